/** Lays one level of configuration over another. Pure. */

import { isMap } from "./document.ts";

type Keys = Readonly<Record<string, unknown>>;

/** Keys whose maps are laid over each other entry by entry; all else is replaced. */
const MERGED = new Set([
  "env",
  "labels",
  "hooks",
  "limits",
  "log",
  "secrets",
  "depends_on",
  "health_check",
]);

const ENTRYPOINTS = ["entrypoint", "script", "binary"];

/** `over` laid over `base`; a key that is null in it says nothing. */
export function mergeKeys(base: Keys, over: Keys): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  // Three words for one key: the newer one of them counts.
  if (ENTRYPOINTS.some((key) => over[key] !== undefined)) {
    for (const key of ENTRYPOINTS) delete merged[key];
  }
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue;
    const before = merged[key];
    merged[key] = MERGED.has(key) && isMap(before) && isMap(value)
      ? { ...before, ...value }
      : value;
  }
  return merged;
}
