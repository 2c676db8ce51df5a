/** Collects converted processes under valid names, with notes and the places they come from. */

import { type Key, rowOf, type ValueType } from "../model/key_table.ts";
import { isMap } from "../model/merge_patch.ts";
import { nameFromPath, nameProblem } from "../model/name.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { commandOf, splitWords } from "../model/shell_line.ts";
import { dirname, isAbsolute, join, resolve } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { type ConfigDocument, type Path, type Place, placeIn } from "../config/document.ts";
import { readDotenv } from "../config/env_file.ts";
import { ConfigProblem, type Note, throwProblems } from "../config/problem.ts";
import {
  type ImportContext,
  type Imported,
  type KeyOrigins,
  type Keys,
  type Lost,
  lost,
  partition,
} from "./imported.ts";
import { escaped, filled, hasReference, shownText, withReferences } from "./references.ts";

/** Where a part of the other tool's file is: the part itself, or what is around it. */
export type PlaceOf = (path: Path) => Pick<Place, "file" | "line" | "column"> | undefined;

/** What a process was made from. */
interface From {
  /** Its path in the other tool's file. */
  readonly path: Path;
  readonly keys?: KeyOrigins | undefined;
}

interface ResultOptions {
  readonly context: ImportContext;
  /** By default places are those of the document's values. */
  readonly placeOf?: PlaceOf;
  /** What a program without a slash is: a command on PATH, or a file. Default: path. */
  readonly bareWord?: "path" | "file";
}

export class ImportResult {
  readonly processes: Record<string, Keys> = {};
  readonly notes: Note[] = [];
  readonly folder: string;
  readonly #file: string;
  readonly #placeOf: PlaceOf;
  readonly #env: Readonly<Record<string, string>>;
  readonly #bareWord: "path" | "file";
  #dotenv: Readonly<Record<string, string>> | undefined;
  /** Maps names in the file to the names used here. */
  readonly #names = new Map<string, string>();
  /** By the names used here. Also of those that became no process. */
  readonly #from = new Map<string, From>();
  /** Why a name of the file became no process. */
  readonly #absent = new Map<string, string>();

  constructor(document: ConfigDocument, { context, placeOf, bareWord = "path" }: ResultOptions) {
    this.#file = document.file;
    this.folder = dirname(document.file);
    this.#placeOf = placeOf ?? ((path) => placeIn(document, path, "key"));
    this.#env = context.env;
    this.#bareWord = bareWord;
  }

  /** Adds a process and returns its name. */
  add(name: string, keys: Keys, from: From): string {
    const taken = this.freeName(name, from);
    this.processes[taken] = this.written(taken, this.#withProgram(keys));
    if (!this.#names.has(name)) this.#names.set(name, taken);
    return taken;
  }

  /** Notes why a part of the file becomes no process. */
  skip(name: string, path: Path, why: string): void {
    this.#from.set(name, { path });
    this.#absent.set(name, why);
    this.note(name, why);
  }

  /** One problem for each part of the file that became no process. */
  problems(what: string): ConfigProblem[] {
    return [...this.#absent].map(([name, why]) => {
      const place = this.#placeOf(this.#from.get(name)!.path);
      return new ConfigProblem(this.#file, `"${name}" ${what}: ${why}`, { place });
    });
  }

  /**
   * The result, with `depends_on` adapted to the new names. Throws `ConfigProblems` if the file has
   * something to run, and nothing became a process.
   */
  imported(): Imported {
    if (Object.keys(this.processes).length === 0) throwProblems(this.problems("cannot run"));
    for (const [process, keys] of Object.entries(this.processes)) {
      if (!isMap(keys.depends_on)) continue;
      const [known, unknown] = partition(
        Object.entries(keys.depends_on),
        ([name]) => this.#names.has(name),
      );
      for (const [name] of unknown) {
        const why = this.#absent.get(name) ?? "no such process in the file";
        this.note(process, lost(["depends_on", name], why, `depends_on ${name}`));
      }
      keys.depends_on = Object.fromEntries(
        known.map(([name, state]) => [this.#names.get(name)!, state]),
      );
      if (known.length === 0) delete keys.depends_on;
    }
    this.#separateLogs();
    return {
      processes: this.processes,
      notes: this.notes,
      origins: (process, key) => {
        const from = this.#from.get(process);
        if (from === undefined) return undefined;
        const theirs = from.keys?.[key];
        const place = this.#placeOf(theirs === undefined ? from.path : [...from.path, theirs]);
        return { key: theirs, place };
      },
    };
  }

  /** The value of a variable in the environment, otherwise in the `.env` beside the file. */
  readonly variable = (name: string): string | undefined => {
    if (Object.hasOwn(this.#env, name)) return this.#env[name];
    this.#dotenv ??= readDotenv(join(this.folder, ".env"));
    return Object.hasOwn(this.#dotenv, name) ? this.#dotenv[name] : undefined;
  };

  /**
   * A part of a process with its variables filled in, for keys in which procsup has none. Adds the
   * names of what was filled in to `found`.
   */
  settled(value: unknown, path: Path, found: Lost[]): unknown {
    if (Array.isArray(value)) {
      return value.map((one, at) => this.settled(one, [...path, at], found));
    }
    if (isMap(value)) {
      const entries = Object.entries(value);
      return Object.fromEntries(
        entries.map(([key, one]) => [key, this.settled(one, [...path, key], found)]),
      );
    }
    if (typeof value !== "string") return value;
    const referring = withReferences(value);
    if (!hasReference(referring)) return referring;
    const text = filled(referring, this.variable) ?? "";
    const why = text === "" ? "it is not set, so this key is left out" : fixed(text);
    found.push(lost(path, why, `${path.join(".")} ${value}`));
    return text === "" ? undefined : text;
  }

  /** Keys as written to a procsup file: `$` is escaped except in references. */
  written(name: string, keys: Keys): Keys {
    const set = Object.entries(keys).filter(([, value]) => !isEmpty(value));
    return Object.fromEntries(
      set.map(([key, value]) =>
        [key, this.#value(value, rowOf(PROCESS_KEYS, key), [name, key])] as const
      ).filter(([, value]) => value !== undefined),
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

  #text(text: string, variables: boolean, [name, ...keys]: readonly string[]): string | undefined {
    if (variables) return escaped(text);
    if (!hasReference(text)) return text;
    const value = filled(text, this.variable);
    const theirs = this.#from.get(name!)?.keys?.[keys[0]!] ?? keys.join(".");
    const why = value === undefined ? "it is not set, so this key is left out" : fixed(value);
    this.note(name, lost(theirs, why, `${theirs} ${shownText(text)}`));
    return value;
  }

  /** Returns the name if it is valid and free, otherwise a similar one. */
  freeName(name: string, from: From): string {
    const valid = nameProblem(name) === undefined ? name : nameFromPath(name.replaceAll("/", "-"));
    let free = valid;
    for (let n = 2; Object.hasOwn(this.processes, free); n++) free = `${valid}-${n}`;
    this.#from.set(free, from);
    if (free !== name) this.note(free, `name: "${name}" became "${free}"`);
    return free;
  }

  /** Adds notes about a process, or about the file. */
  note(process: string | undefined, ...texts: readonly (string | Lost)[]): void {
    const from = process === undefined ? [] : this.#from.get(process)?.path;
    for (const one of texts) {
      const { path, text } = typeof one === "string" ? { path: [], text: one } : one;
      const at = [...from ?? [], ...path];
      const place = at.length === 0 ? undefined : this.#placeOf(at);
      this.notes.push({ process, text: shownText(text), ...(place && { place }) });
    }
  }

  /**
   * The program as the other tool finds it: relative to the working directory, and a bare word only
   * on PATH. procsup would take a file beside the configuration file.
   */
  #withProgram(keys: Keys): Keys {
    const { cwd, entrypoint, command } = keys;
    const words = typeof command === "string" ? splitWords(command) : [];
    const line = typeof command === "string" ? commandOf(command) : undefined;
    const isSimple = line !== undefined && words[0] === line.entrypoint;
    const word = typeof entrypoint === "string" ? entrypoint : isSimple ? words[0] : undefined;
    if (word === undefined || isAbsolute(word) || hasReference(word.slice(0, 1))) return keys;
    const args = word === entrypoint ? keys.args ?? [] : line!.args;
    const placed = this.#placed(word, typeof cwd === "string" ? cwd : undefined);
    const program = this.#isTakenForFile(word)
      ? { entrypoint: "/usr/bin/env", args: [word, ...args as string[]] }
      : { entrypoint: placed, args };
    if (program.entrypoint === word) return keys;
    const { command: _, ...rest } = keys;
    return { ...rest, ...program };
  }

  /** Whether procsup would run a file beside the configuration in place of a command on PATH. */
  #isTakenForFile(word: string): boolean {
    return this.#bareWord === "path" && !word.includes("/") &&
      lookAt(resolve(this.folder, word))?.isFile === true;
  }

  #placed(word: string, cwd: string | undefined): string {
    if (cwd === undefined || !word.includes("/")) return word;
    if (hasReference(cwd) && !hasReference(word)) return join(cwd, word);
    const inside = resolve(this.folder, cwd, word);
    if (inside === resolve(this.folder, word)) return word;
    // Relative to the file if it exists, and procsup's lookup would find another one otherwise.
    if (lookAt(inside) !== undefined) return isAbsolute(cwd) ? inside : `./${join(cwd, word)}`;
    return lookAt(resolve(this.folder, word)) === undefined ? word : inside;
  }

  /** Two processes cannot write to one log file. */
  #separateLogs(): void {
    const owners = new Map<string, string[]>();
    const entries = Object.entries(this.processes);
    for (const [name, { log }] of entries) {
      for (const path of new Set(isMap(log) ? [log.stdout, log.stderr] : [])) {
        if (typeof path !== "string" || path.includes("{name}")) continue;
        owners.set(path, [...owners.get(path) ?? [], name]);
      }
    }
    for (const [path, names] of owners) {
      if (names.length === 1) continue;
      const own = path.replace(/([^/])(\.\w+)?$/, "$1-{name}$2");
      for (const name of names) {
        const log = this.processes[name]!.log as Record<string, unknown>;
        for (const stream of ["stdout", "stderr"]) if (log[stream] === path) log[stream] = own;
        this.note(name, `log ${path}: one file for ${names.join(", ")} became ${own}`);
      }
    }
  }
}

/** Why a value with variables is written as it is. */
export function fixed(value: string): string {
  return `written as ${JSON.stringify(value)}, because procsup has no variables in this key`;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null ||
    (typeof value === "object" && Object.keys(value).length === 0);
}
