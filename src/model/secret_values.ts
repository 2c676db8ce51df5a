/** Masks configured secrets, recognizes others by their names and texts, and compares them. Pure. */

import { ProcsupError } from "./errors.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import { PROCESS_KEYS } from "./process_keys.ts";

/** Shown in place of a masked value. */
const MASK = "***";

/** Returns a configuration in wire form with its masked values replaced: they are never shown. */
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

/** Names and values that look like secrets. */
const SECRET_NAME =
  /pass(word|wd|phrase)?|secret|token|credential|(api|private|access)_?key|_key$|dsn$/i;
const SECRET_VALUE = /:\/\/[^/\s:@]*:[^/\s@]+@|-----BEGIN/;

/** True if a literal value of a variable may be a secret. */
export function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** A secret in a command line: `--token=…`, `password: …`, `Bearer …`, but not a reference. */
const SECRET_TEXT =
  /(pass(word|wd|phrase)|secret|token|credential|api[-_]?key|bearer)["']?\s*[=:\s]\s*["']?[^\s"'$]/i;

/** True if the words of a command may contain a secret. */
export function holdsSecret(text: string): boolean {
  return SECRET_TEXT.test(text) || SECRET_VALUE.test(text);
}

/** Whether two texts are equal. The time does not depend on where they differ. */
export function sameText(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= given.charCodeAt(i % (given.length || 1)) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
