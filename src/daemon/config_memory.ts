/** What the daemon remembers about applied configuration files. */

import { readState, writeState } from "../platform/state_file.ts";
import type { SettingChangeJson } from "../protocol/wire.ts";

/** A setting of the daemon that configuration files may hold. */
export type SettingName = SettingChangeJson["name"];

/** Where a process came from. */
interface Origin {
  readonly files: readonly string[];
  /** UUIDs of the instances at that time. A later process of that name has other UUIDs. */
  readonly ids: readonly string[];
}

/** Files that were applied, with their options. */
export interface Applied {
  readonly files: readonly string[];
  readonly profile?: string;
  /** Values of `${…}` at that time: the daemon's environment differs from that of its client. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables of `${…}` that were not set at that time. The daemon's environment may have them. */
  readonly unset?: readonly string[];
}

export interface ConfigMemory {
  readonly last: Applied | undefined;
  /** Origins by process name. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Files that set the daemon's settings. */
  readonly settings: { readonly [S in SettingName]?: readonly string[] };
}

const NOTHING: ConfigMemory = { last: undefined, origins: new Map(), settings: {} };

/** Reads the memory, and the problems of its file. A damaged file is set aside. */
export function readMemory(
  path: string,
): { readonly value: ConfigMemory; readonly problems: readonly string[] } {
  const { value = NOTHING, problems } = readState(path, (value): ConfigMemory => {
    const { version, last, origins, settings } = value as MemoryFile;
    if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
    return { last, origins: new Map(Object.entries(origins)), settings };
  });
  return { value, problems };
}

/** Writes the memory. Only the user can read the file. */
export function writeMemory(path: string, { last, origins, settings }: ConfigMemory): void {
  writeState(path, { version: 1, last, origins: Object.fromEntries(origins), settings });
}

interface MemoryFile extends Pick<ConfigMemory, "last" | "settings"> {
  readonly version: number;
  readonly origins: Readonly<Record<string, Origin>>;
}
