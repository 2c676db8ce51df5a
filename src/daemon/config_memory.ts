/** What the daemon remembers of the configuration files that were applied. */

import { readState, writeState } from "../platform/state_file.ts";
import type { SettingChangeJson } from "../protocol/wire.ts";

/** A setting of the daemon that configuration files may hold. */
export type SettingName = SettingChangeJson["name"];

/** Where a process came from. */
export interface Origin {
  readonly files: readonly string[];
  /** UUIDs of its instances then: another process of that name came from somewhere else. */
  readonly ids: readonly string[];
}

/** Files that were applied, and with what. */
export interface Applied {
  readonly files: readonly string[];
  readonly profile?: string;
  /** What `${…}` stood for: the daemon has another environment than who applied them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The whole memory. */
export interface ConfigMemory {
  readonly last: Applied | undefined;
  /** By name of the configuration. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Files that the settings of the daemon came from. */
  readonly settings: { readonly [S in SettingName]?: readonly string[] };
}

const NOTHING: ConfigMemory = { last: undefined, origins: new Map(), settings: {} };

/** Reads it; a file that is damaged is set aside. */
export function readMemory(path: string): ConfigMemory {
  const { value = NOTHING } = readState(path, (value): ConfigMemory => {
    const { version, last, origins, settings } = value as MemoryFile;
    if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
    return { last, origins: new Map(Object.entries(origins)), settings };
  });
  return value;
}

/** Writes it; the file is the user's alone. */
export function writeMemory(path: string, { last, origins, settings }: ConfigMemory): void {
  writeState(path, { version: 1, last, origins: Object.fromEntries(origins), settings });
}

interface MemoryFile extends Pick<ConfigMemory, "last" | "settings"> {
  readonly version: number;
  readonly origins: Readonly<Record<string, Origin>>;
}
