/**
 * State files, sealed by a checksum, each with a copy beside it. A damaged file is never deleted
 * and never trusted: it is set aside, and its copy is used. The copy is written right after the
 * file, and again by a reader that finds it outdated or damaged. So one of the two is always whole,
 * and an old copy never restores removed data.
 */

import { hasCode, ifPossible, messageOf } from "../../model/errors.ts";
import { readFileIfAny, removeFile, replaceFile, replaceFileDurably } from "./atomic_file.ts";
import { isShortage } from "../lack.ts";
import { lstatIfAny } from "./stat.ts";

/** Name suffix of a file that was set aside. */
const ASIDE = ".unreadable";

/** A value as one line: JSON, a tab, the checksum of the JSON. */
export function sealed(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\t${checksum(json)}`;
}

/** The value in a sealed line. Throws when the line is damaged. */
export function unsealed(line: string): unknown {
  const tab = line.lastIndexOf("\t");
  const json = line.slice(0, Math.max(0, tab));
  if (line.slice(tab + 1).trimEnd() !== checksum(json)) throw new Error("checksum mismatch");
  return JSON.parse(json);
}

export function copyOf(path: string): string {
  return `${path}.copy`;
}

/** True when a state file or its copy is there, damaged or not. */
export function isState(path: string): boolean {
  return lstatIfAny(path) !== undefined || lstatIfAny(copyOf(path)) !== undefined;
}

/** True for the name of a file that was set aside. */
export function isSetAside(name: string): boolean {
  return name.includes(ASIDE);
}

/** What a state file holds. */
export interface StateRead<T> {
  /** Undefined when neither the file nor its copy can be read. */
  readonly value: T | undefined;
  /** What was wrong, for the log of the daemon. */
  readonly problems: readonly string[];
}

/**
 * Reads a state file. A damaged one is set aside and replaced by its copy. `parse` throws for a value
 * that it does not accept. Throws `other_version` when a newer program wrote the file, and a lack of
 * descriptors or memory, which is no damage.
 */
export function readState<T>(path: string, parse: (value: unknown) => T): StateRead<T> {
  const file = readOne(path, parse);
  if (file.value !== undefined) {
    mendCopy(path, file.text!);
    return { value: file.value, problems: [] };
  }
  const copy = readOne(copyOf(path), parse);
  if (copy.text !== undefined) {
    return { value: copy.value, problems: [replaceDamaged(path, copy.text, file.why)] };
  }
  const problems = [file, copy].flatMap(({ why }, n) =>
    why === undefined ? [] : [setAside(n === 0 ? path : copyOf(path), why)]
  );
  return { value: undefined, problems };
}

/** Without room for it, the copy stays as it is. */
function mendCopy(path: string, text: string): void {
  ifPossible(() => {
    if (readFileIfAny(copyOf(path)) !== text) replaceFile(copyOf(path), text);
  });
}

/** A whole file has a text and a value, a damaged one a reason, a missing one nothing. */
interface ReadOne<T> {
  readonly text?: string;
  readonly value?: T;
  readonly why?: unknown;
}

function readOne<T>(path: string, parse: (value: unknown) => T): ReadOne<T> {
  try {
    const text = readFileIfAny(path);
    return text === undefined ? {} : { text, value: parse(unsealed(text)) };
  } catch (why) {
    throwUndamaged(why);
    return { why };
  }
}

/** Throws the error of reading a file unless it means damage: it is newer, or nothing was left to open it. */
export function throwUndamaged(error: unknown): void {
  if (hasCode(error, "other_version") || isShortage(error)) throw error;
}

/**
 * Sets a damaged file aside and puts a text in its place; `why` is undefined for one that is missing.
 * Does nothing if there is no room for the text. Returns what to log.
 */
export function replaceDamaged(path: string, text: string, why: unknown): string {
  const next = `${path}.next`;
  try {
    replaceFile(next, text);
    const aside = why === undefined ? `"${path}" was missing` : setAside(path, why);
    Deno.renameSync(next, path);
    return `${aside}; restored`;
  } catch (error) {
    return `Cannot restore "${path}": ${messageOf(error)}`;
  }
}

/** Writes a state file and its copy. With `durable`, syncs the file to the disk. */
export function writeState(path: string, value: unknown, { durable = false } = {}): void {
  const text = `${sealed(value)}\n`;
  (durable ? replaceFileDurably : replaceFile)(path, text);
  try {
    replaceFile(copyOf(path), text);
  } catch {
    // An outdated copy is worse than none.
    removeFile(copyOf(path));
  }
}

/** Removes a state file and its copy. */
export function removeState(path: string): void {
  // The copy first: it would restore the file if this program were killed in between.
  removeFile(copyOf(path));
  removeFile(path);
}

/**
 * Renames a damaged file to `*.unreadable`, or `*.unreadable.1` where that exists. Returns what to
 * log.
 */
export function setAside(path: string, why: unknown): string {
  const problem = `Unreadable state file "${path}": ${messageOf(why)}`;
  try {
    let aside = `${path}${ASIDE}`;
    for (let n = 1; lstatIfAny(aside) !== undefined; n++) aside = `${path}${ASIDE}.${n}`;
    Deno.renameSync(path, aside);
    return `${problem}; set aside as "${aside}"`;
  } catch (error) {
    return `${problem}; it cannot be set aside: ${messageOf(error)}`;
  }
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

/** CRC-32 in eight hex digits: detects every flipped bit. An app's start waits for it. */
export function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    crc = CRC_TABLE[(crc ^ code) & 0xff]! ^ (crc >>> 8);
    if (code > 0xff) crc = CRC_TABLE[(crc ^ (code >>> 8)) & 0xff]! ^ (crc >>> 8);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}
