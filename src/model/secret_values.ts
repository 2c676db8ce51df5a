/**
 * What a configuration holds secret: the one list, for masks, images and exports. Recognizes secrets
 * by their keys, names and texts, and compares them. Pure.
 */

import { ProcsupError } from "./errors.ts";
import { formOf, type Key, type KeyTable, rowOf, type ValueType } from "./key_table.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import { PROCESS_KEYS } from "./process_keys.ts";
import { shownUrl } from "./webhook.ts";

/** Shown in place of a masked value. */
const MASK = "***";

/** Returns a configuration in wire form with its masked values replaced: they are never shown. */
export function masked(wire: Keyed, table: KeyTable = PROCESS_KEYS): Keyed {
  const entries = Object.entries(wire).map(([key, value]) =>
    [key, maskedValue(value, rowOf(table, key))] as const
  );
  return Object.fromEntries(entries);
}

function maskedValue(value: unknown, row: Key | undefined): unknown {
  if (row === undefined || value === undefined || value === null) return value;
  if (row.masked === "always") return maskOf(value);
  if (row.masked === "in url" && typeof value === "string") return maskedUrl(value);
  return row.type === "object" && isMap(value) ? masked(value, row.keys) : value;
}

function maskOf(value: unknown): unknown {
  if (!isMap(value)) return MASK;
  return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]));
}

/** A URL without its user, its password and the values of its query. */
export function maskedUrl(url: string): string {
  return url.replace(/^([^/?#]*\/\/)[^/?#]*@/, `$1${MASK}@`)
    .replace(/\?[^#]+/, (query) => query.replace(/([?&])([^=&]*=)?[^?&]+/g, `$1$2${MASK}`));
}

/**
 * A configuration in wire form that was read, changed and sent back: each mask that is in its place
 * becomes the value that it hides. Throws `invalid_config` for any other mask.
 */
export function unmasked(wire: Keyed, current: Keyed): Keyed {
  const whole = restored(wire, masked(current), current) as Keyed;
  refuseMasks(whole);
  return whole;
}

function restored(given: unknown, shown: unknown, real: unknown): unknown {
  if (given === shown) return real;
  if (!isMap(given) || !isMap(shown) || !isMap(real)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, restored(value, shown[key], real[key])]),
  );
}

function refuseMasks(wire: Keyed): void {
  for (const { path, text, row } of leavesOf(wire, PROCESS_KEYS)) {
    const isMask = row.masked === "always"
      ? text === MASK
      : row.masked === "in url" && text.includes(MASK) && maskedUrl(text) === text;
    if (!isMask) continue;
    throw new ProcsupError(
      "invalid_config",
      `Invalid "${path.join(".")}": "${text}" has a mask in place of a value`,
    );
  }
}

/** A text in a configuration, with the key that it belongs to. */
interface Leaf {
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly row: Key;
}

/** All texts of a value in wire form. */
export function* leavesOf(wire: Keyed, table: KeyTable): Generator<Leaf> {
  for (const [key, value] of Object.entries(wire)) {
    const row = rowOf(table, key);
    if (row !== undefined) yield* leavesIn(value, row, row, [key]);
  }
}

function* leavesIn(value: unknown, of: ValueType, row: Key, path: Leaf["path"]): Generator<Leaf> {
  const type = formOf(of, value);
  if (typeof value === "string") yield { path, text: value, row };
  if (Array.isArray(value)) {
    const of = type.type === "list" ? type.of : type;
    for (const [index, item] of value.entries()) yield* leavesIn(item, of, row, [...path, index]);
  }
  if (!isMap(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (type.type === "map") yield* leavesIn(inner, type.of, row, [...path, key]);
    const own = type.type === "object" ? rowOf(type.keys, key) : undefined;
    if (own !== undefined) yield* leavesIn(inner, own, own, [...path, key]);
  }
}

/** A secret of a configuration: a file that holds it, or a text of the configuration itself. */
interface Secret {
  readonly kind: "file" | "text";
  readonly path: readonly (string | number)[];
  /** The path of the file, or the text. */
  readonly text: string;
}

/** Every secret that a configuration in wire form names or contains. */
export function* secretsIn(wire: Keyed, table: KeyTable = PROCESS_KEYS): Generator<Secret> {
  let before = "";
  for (const { path, text, row } of leavesOf(wire, table)) {
    if (row.secretFile) yield { kind: "file", path, text };
    else if (isSecret(path, text, row, before)) yield { kind: "text", path, text };
    before = text;
  }
}

function isSecret(path: Leaf["path"], text: string, row: Key, before: string): boolean {
  if (row.masked === "in url" && maskedUrl(text) !== text) return true;
  if (row.masked !== "always") return holdsSecret(afterFlag(before) + text);
  if (row.type === "map") return looksSecret(String(path.at(-1)), text);
  return row.type === "text" && shownUrl(text) !== text;
}

/** The flag that a word is the value of: `--password ` before `hunter2`. */
export function afterFlag(before: string): string {
  return /^-[^=]*$/.test(before) ? `${before} ` : "";
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
