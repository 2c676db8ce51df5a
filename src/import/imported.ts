/** What the importers have in common. */

import { mapOf, mergePatch } from "../model/merge_patch.ts";
import { splitWords } from "../model/shell_line.ts";
import { resolve } from "@std/path";
import { sharedFileProblem } from "../platform/files/way.ts";
import { type Path, valueAt } from "../config/document.ts";
import type { Keys } from "../config/tools.ts";
import { hasReference, reference, withReferences } from "./references.ts";

export type { ImportContext, Imported, Importer, Keys } from "../config/tools.ts";

/** Keys of a process, and why a part of the value is not among them. */
type Converted = Keys & { readonly lost?: string | undefined };

/** A part of a process that is lost: its keys within the process, and what to do, with its name. */
export interface Lost {
  readonly path: Path;
  readonly text: string;
}

export function lost(path: string | Path, why: string, shown?: string): Lost {
  const at = typeof path === "string" ? [path] : path;
  return { path: at, text: `${shown ?? at.join(".")}: ${why}` };
}

/** Which key of the other tool each of our keys comes from. */
export type KeyOrigins = Readonly<Record<string, string>>;

/** Per key of another tool: its converter, or what to do instead. */
export type ImportTable<Value, Context> = Readonly<
  Record<string, string | ((value: Value, context: Context) => Converted)>
>;

/** The row for a word of a file, such as `toString`, which every object has as a method. */
export function rowFor<Row>(table: Readonly<Record<string, Row>>, word: string): Row | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The same row for several keys. */
export function alike<Row>(row: Row, ...keys: readonly string[]): Record<string, Row> {
  return Object.fromEntries(keys.map((key) => [key, row]));
}

/** Rows for keys that match procsup's behavior, or are converted with another key. */
export function handled(...keys: readonly string[]): Record<string, () => Keys> {
  return alike(() => ({}), ...keys);
}

export const UNSUPPORTED = "procsup has no counterpart: check that it works without";

/** Converts keys by a table. Returns a note for each that is lost; `shown` is how a note names it. */
export function convertedKeys<Value, Context>(
  table: ImportTable<Value, Context>,
  given: Iterable<readonly [key: string, value: Value]>,
  context: Context,
  shown: (key: string, value: Value) => string = (key) => key,
): { readonly keys: Keys; readonly notes: readonly Lost[]; readonly origins: KeyOrigins } {
  let keys: Keys = {};
  const notes: Lost[] = [];
  const origins: Record<string, string> = {};
  for (const [key, value] of given) {
    const row = rowFor(table, key) ?? UNSUPPORTED;
    const { lost: why, ...made } = typeof row === "string" ? { lost: row } : row(value, context);
    keys = mergePatch(keys, made);
    for (const own of Object.keys(made)) origins[own] = key;
    if (why !== undefined) notes.push(lost(key, why, shown(key, value)));
  }
  return { keys, notes, origins };
}

/** Notes on the keys of nested maps that `known` does not list. Paths are keys joined by dots. */
export function unknownInside(
  value: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): Lost[] {
  return Object.entries(known).flatMap(([path, keys]) => {
    const inner = mapOf(valueAt(value, path.split(".")));
    return Object.keys(inner).filter((key) => !keys.includes(key) && !key.startsWith("x-"))
      .map((key) => lost([...path.split("."), key], UNSUPPORTED));
  });
}

/** Log files of another tool, and the folder of relative paths. */
export interface LogFilesInput {
  readonly stdout?: unknown;
  readonly stderr?: unknown;
  readonly folder: string;
  /** Added to the names of files that several processes would share. */
  readonly suffix?: string;
}

/** The `log` keys for files that procsup would write to. */
export function logFiles({ folder, suffix = "", ...files }: LogFilesInput): Keys {
  const given = Object.entries(files).filter(([, file]) => !logFileProblem(file, folder));
  if (given.length === 0) return {};
  const named = given.map(([stream, file]) => [
    stream,
    String(file).replace(/(\.\w+)?$/, `${suffix}$1`),
  ]);
  return { log: Object.fromEntries(named) };
}

/** Why a log file of another tool is not used; undefined if it is. */
export function logFileProblem(file: unknown, folder: string): string | undefined {
  if (typeof file !== "string" || /^$|^\/dev\/|^(AUTO|NONE|NULL|syslog)$/i.test(file)) {
    return "procsup logs shows what the app writes";
  }
  const problem = hasReference(file) ? undefined : sharedFileProblem(resolve(folder, file));
  return problem && `procsup logs shows what the app writes; a log there is not safe: ${problem}`;
}

/** Row of a key that names a log file, which `logFiles()` converts: a note if it is not used. */
export function lostLog(
  file: unknown,
  { folder }: { readonly folder: string },
): { readonly lost?: string | undefined } {
  return { lost: logFileProblem(file, folder) };
}

/** Variables in a map, or in a list of `NAME=VALUE`; `NAME` alone is a reference. */
export function environment(value: unknown): Record<string, string> {
  const entries = Array.isArray(value)
    ? value.map((pair) => String(pair).split(/=(.*)/s) as [string, string?])
    : Object.entries(mapOf(value)).map(([name, text]) =>
      [name, text === null ? undefined : texts({ text }).text] as [string, string?]
    );
  return Object.fromEntries(
    entries.map(([name, text]) => [
      name,
      text === undefined ? reference(name, "") : withReferences(text),
    ]),
  );
}

/** The words of a command or of arguments, given as a list or as a line. */
export function words(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map(String) : splitWords(String(value));
}

/** The items that pass a test, and the others. */
export function partition<T>(list: readonly T[], isIn: (item: T) => boolean): [T[], T[]] {
  return [list.filter(isIn), list.filter((item) => !isIn(item))];
}

/** A quoted or escaped part of a word, a reference, or other characters. */
const PART =
  /'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|\0\{(?:[^\0{}]|\0\{[^\0{}]*\})*\}|\s+|[^\s'"\\\0]+|[^]/g;

/**
 * A command line that is split into words after its variables are filled in, as other tools do it:
 * a value outside of quotes may be several words.
 */
export function lineOf(text: string): readonly string[] {
  const line = withReferences(text);
  const found: { word: string; isSplit: boolean }[] = [];
  let isNew = true;
  for (const [part] of line.matchAll(PART)) {
    if (/^\s/.test(part)) isNew = true;
    else {
      const word = isNew ? { word: "", isSplit: false } : found.pop()!;
      isNew = false;
      const isReference = hasReference(part) && !/^['"]/.test(part);
      const own = isReference ? part : splitWords(part)[0] ?? "";
      found.push({ word: word.word + own, isSplit: word.isSplit || isReference });
    }
  }
  const words = found.map(({ word }) => word);
  if (!found.some(({ isSplit }) => isSplit)) return words;
  const places = found.map(({ isSplit }, at) => isSplit ? `\${${at + 1}}` : `"\${${at + 1}}"`);
  return ["/bin/sh", "-c", `set -f; exec ${places.join(" ")}`, "sh", ...words];
}

/** No limit of restarts: the shortest window never has too many. */
export const UNLIMITED: Keys = { restart_window: "1ms" };

/** Converts milliseconds to a duration; leaves other values unchanged. */
export const ms = durationIn("ms");

/** Converts seconds to a duration; leaves other values unchanged. */
export const seconds = durationIn("s");

function durationIn(unit: string) {
  return (value: unknown) =>
    /^\d+(\.\d+)?$/.test(String(value)) ? `${Number(value)}${unit}` : value;
}

/** Converts every value of a map to text. */
export function texts(map: object): Record<string, string> {
  const set = Object.entries(map).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    set.map(([key, value]) => [
      key,
      typeof value === "object" ? JSON.stringify(value) : String(value),
    ]),
  );
}
