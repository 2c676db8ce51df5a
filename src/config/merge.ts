/** Lays one level of configuration over another. Pure. */

import { PROCESS_KEYS } from "../model/process_keys.ts";
import { isMap } from "./document.ts";

type Keys = Readonly<Record<string, unknown>>;

/**
 * `over` laid over `base`; a key that is null in it is left out. Maps, and objects without a shorter
 * form, are merged entry by entry; any other value is replaced.
 */
export function mergeKeys(base: Keys, over: Keys): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, { aliases = [] }] of Object.entries(PROCESS_KEYS)) {
    // Several names for one key: the newer one wins.
    const names = [key, ...aliases];
    if (aliases.length === 0 || names.every((name) => over[name] === undefined)) continue;
    for (const name of names) delete merged[name];
  }
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue;
    const before = merged[key];
    merged[key] = isMerged(key) && isMap(before) && isMap(value) ? { ...before, ...value } : value;
  }
  return merged;
}

function isMerged(key: string): boolean {
  const row = PROCESS_KEYS[key];
  return row?.type === "map" || (row?.type === "object" && row.short === undefined);
}
