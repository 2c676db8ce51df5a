/** What the daemon remembers of the configuration files that were applied. */

import { readFileIfAny, replaceFile } from "../platform/atomic_file.ts";
import type { SettingName } from "../protocol/actions.ts";

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

/** Reads it; a file that cannot be understood is as good as none. */
export function readMemory(path: string): ConfigMemory {
  try {
    const { version, last, origins, settings = {} } = JSON.parse(readFileIfAny(path) ?? "{}");
    if (version !== 1) return NOTHING;
    return { last, origins: new Map(Object.entries(origins)), settings };
  } catch {
    return NOTHING;
  }
}

/** Writes it; the file is the user's alone. */
export function writeMemory(path: string, { last, origins, settings }: ConfigMemory): void {
  const text = JSON.stringify({ version: 1, last, origins: Object.fromEntries(origins), settings });
  replaceFile(path, text);
}
