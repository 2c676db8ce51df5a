/** The result of converting another tool's file. */

import { type Key, rowOf, type ValueType } from "../../model/key_table.ts";
import { isMap, mapOf, mergePatch } from "../../model/merge_patch.ts";
import { nameFromPath, nameProblem } from "../../model/name.ts";
import { PROCESS_KEYS } from "../../model/process_keys.ts";
import { type ReferenceReader, replaceReferences } from "../../model/references.ts";
import { splitWords } from "../../model/shell_line.ts";
import { dirname, resolve } from "../../npm/path.js";
import { sharedFileProblem } from "../../platform/way.ts";
import { type ConfigDocument, valueAt } from "../document.ts";
import { ConfigProblem, type Note } from "../problem.ts";

/** Keys of a process, as in a procsup file. */
export type Keys = Record<string, unknown>;

export interface Imported {
  readonly processes: Readonly<Record<string, Keys>>;
  readonly profiles?: Readonly<Record<string, { processes: Record<string, Keys> }>>;
  /** Settings of `procsup run`: processes whose end or failure stops everything. */
  readonly run?: Keys;
  /** Variables of the environment that the result depends on. */
  readonly uses?: readonly string[];
  readonly notes: readonly Note[];
}

/** Input of a conversion besides the file. */
export interface ImportContext {
  readonly env: Readonly<Record<string, string>>;
  /** Whether `procsup run` starts the processes. */
  readonly inForeground?: boolean | undefined;
  /** Whether the result is written to a file, where a secret does not belong. */
  readonly isWritten?: boolean;
  /** Whether to run containers with `docker run`. */
  readonly withDocker?: boolean;
}

/** The importer of another tool. */
export interface Importer {
  readonly name: string;
  /** Whether a document belongs to this tool. */
  matches(document: ConfigDocument & { readonly kind: string }): boolean;
  /** Throws `ConfigProblem` if the document is invalid. */
  convert(document: ConfigDocument, context: ImportContext): Imported;
  /** Set if too much is lost to run its files directly: they must be converted and reviewed first. */
  readonly convertOnly?: true;
}

/** Keys of a process, and why a part of the value is not among them. */
type Converted = Keys & { readonly lost?: string | undefined };

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

export const UNSUPPORTED = "not supported by procsup";

/** Converts keys by a table. Returns a note for each that is lost; `shown` is how a note names it. */
export function convertedKeys<Value, Context>(
  table: ImportTable<Value, Context>,
  given: Iterable<readonly [key: string, value: Value]>,
  context: Context,
  shown: (key: string, value: Value) => string = (key) => key,
): { readonly keys: Keys; readonly notes: readonly string[] } {
  let keys: Keys = {};
  const notes: string[] = [];
  for (const [key, value] of given) {
    const row = rowFor(table, key) ?? UNSUPPORTED;
    const { lost, ...made } = typeof row === "string" ? { lost: row } : row(value, context);
    keys = mergePatch(keys, made);
    if (lost !== undefined) notes.push(`${shown(key, value)}: ${lost}`);
  }
  return { keys, notes };
}

/** Notes on the keys of nested maps that `known` does not list. Paths are keys joined by dots. */
export function unknownInside(
  value: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.entries(known).flatMap(([path, keys]) => {
    const inner = mapOf(valueAt(value, path.split(".")));
    return Object.keys(inner).filter((key) => !keys.includes(key)).map((key) =>
      `${path}.${key}: ${UNSUPPORTED}`
    );
  });
}

/** Placeholder for the `$` of references during a conversion; it cannot occur in a file's text. */
const DOLLAR = "\0";

/** A reference to a variable that procsup fills in when the file is loaded. */
export function reference(name: string, fallback?: string): string {
  return `${DOLLAR}{${name}${fallback === undefined ? "" : `:-${fallback}`}}`;
}

/**
 * Converts `$NAME`, `${NAME}` and `${NAME:-default}` to references, and `$$` to `$`. Unset variables
 * become empty.
 */
export function withReferences(text: string): string {
  const reader: ReferenceReader = {
    braced: (inside, depth) => {
      const [, name, sign, rest = ""] = /^([A-Za-z_]\w*)(?::?([-?])([^]*))?$/.exec(inside) ?? [];
      if (name === undefined) return `\${${inside}}`;
      if (sign === "?") return reference(name);
      return reference(name, sign && replaceReferences(rest, reader, depth + 1));
    },
    bare: (name) => reference(name, ""),
  };
  return replaceReferences(text, reader);
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
  const problem = file.includes(DOLLAR) ? undefined : sharedFileProblem(resolve(folder, file));
  return problem && `procsup logs shows what the app writes; a log there is not safe: ${problem}`;
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

/** Collects converted processes under valid names, and notes. */
export class ImportResult {
  readonly processes: Record<string, Keys> = {};
  readonly notes: Note[] = [];
  readonly #file: string;
  readonly folder: string;
  /** Maps names in the file to the names used here. */
  readonly #names = new Map<string, string>();

  constructor(file: string) {
    this.#file = file;
    this.folder = dirname(file);
  }

  /** Adds a process and returns its name. Throws `ConfigProblem` for a variable in a key without references. */
  add(name: string, keys: Keys): string {
    const taken = this.freeName(name);
    this.processes[taken] = this.written(name, keys);
    if (!this.#names.has(name)) this.#names.set(name, taken);
    return taken;
  }

  /** The result, with `depends_on` adapted to the new names. */
  imported(): Imported {
    for (const [process, keys] of Object.entries(this.processes)) {
      if (!isMap(keys.depends_on)) continue;
      const [known, unknown] = partition(
        Object.entries(keys.depends_on),
        ([name]) => this.#names.has(name),
      );
      for (const [name] of unknown) {
        this.note(process, `depends_on ${name}: no such process in the file`);
      }
      keys.depends_on = Object.fromEntries(
        known.map(([name, state]) => [this.#names.get(name)!, state]),
      );
      if (known.length === 0) delete keys.depends_on;
    }
    return { processes: this.processes, notes: this.notes };
  }

  /** Keys as written to a procsup file: `$` is escaped except in references. */
  written(name: string, keys: Keys): Keys {
    const set = Object.entries(keys).filter(([, value]) => !isEmpty(value));
    return Object.fromEntries(
      set.map(([key, value]) => [key, this.#value(value, rowOf(PROCESS_KEYS, key), [name, key])]),
    );
  }

  #value(value: unknown, type: ValueType | undefined, path: readonly string[]): unknown {
    const variables = (type as Key | undefined)?.variables === true;
    if (typeof value === "string") return this.#text(value, variables, path);
    if (Array.isArray(value)) return value.map((item) => this.#value(item, type, path));
    if (!isMap(value)) return value;
    const inner = (key: string) => type?.type === "object" ? rowOf(type.keys, key) : type;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        this.#value(item, inner(key), [...path, key]),
      ]),
    );
  }

  #text(text: string, variables: boolean, path: readonly string[]): string {
    if (variables) return text.replace(/\$(?=[${])/g, "$$$$").replaceAll(DOLLAR, "$");
    if (!text.includes(DOLLAR)) return text;
    throw new ConfigProblem(this.#file, `"${path[0]}": variable in "${path.slice(1).join(".")}"`, {
      advice: "procsup has no variables in this key: write the value",
    });
  }

  /** Returns the name if it is valid and free, otherwise a similar one. */
  freeName(name: string): string {
    const valid = nameProblem(name) === undefined ? name : nameFromPath(name.replaceAll("/", "-"));
    let free = valid;
    for (let n = 2; Object.hasOwn(this.processes, free); n++) free = `${valid}-${n}`;
    if (free !== name) this.note(free, `name: "${name}" became "${free}"`);
    return free;
  }

  /** Adds notes about a process, or about the file. */
  note(process: string | undefined, ...texts: readonly string[]): void {
    this.notes.push(...texts.map((text) => ({ process, text: text.replaceAll(DOLLAR, "$") })));
  }
}

/** The items that pass a test, and the others. */
export function partition<T>(list: readonly T[], isIn: (item: T) => boolean): [T[], T[]] {
  return [list.filter(isIn), list.filter((item) => !isIn(item))];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null ||
    (typeof value === "object" && Object.keys(value).length === 0);
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
