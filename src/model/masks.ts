/** Masked values are never shown, and sending a mask back is refused. */

import { ProcsupError } from "./errors.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import { PROCESS_KEYS } from "./process_keys.ts";

/** Shown in place of a masked value. */
const MASK = "***";

/** Returns a configuration in wire form with its masked values replaced. */
export function masked(wire: Keyed): Keyed {
  const hidden = maskedKeys().filter((key) => wire[key] !== undefined);
  return { ...wire, ...Object.fromEntries(hidden.map((key) => [key, maskOf(wire[key])])) };
}

function maskOf(value: unknown): unknown {
  if (!isMap(value)) return MASK;
  return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]));
}

/**
 * Throws `invalid_config` if a configuration in wire form contains a mask: it was read and sent
 * back, and would overwrite the real value.
 */
export function refuseMasks(wire: Keyed): void {
  for (const key of maskedKeys()) {
    const value = wire[key];
    const values = isMap(value)
      ? Object.entries(value).map(([name, inner]) => [`${key}.${name}`, inner])
      : [[key, value]];
    const [field] = values.find(([, inner]) => inner === MASK) ?? [];
    if (field === undefined) continue;
    throw new ProcsupError(
      "invalid_config",
      `Invalid "${field}": "${MASK}" is a mask, not a value`,
    );
  }
}

function maskedKeys(): string[] {
  return Object.keys(PROCESS_KEYS).filter((key) => PROCESS_KEYS[key]!.masked === "always");
}
