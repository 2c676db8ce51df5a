/** Reads flags off the words of a command line, by the flags that there are. */

import { parseArgs } from "@std/cli/parse-args";
import type { Flag } from "./command.ts";

/** What went wrong at a word. */
export interface FlagProblem {
  readonly kind: "unknown" | "missing_value" | "needless_value";
  /** The flag as it was written: `--verbos`, `-q`. */
  readonly word: string;
  readonly flag?: Flag;
}

/** The words, told apart. */
export interface ReadFlags {
  /** Values by the flag's name, in the order they were given; `"true"` for a flag without a value. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

/** Refuses a word by throwing. */
export type Refuse = (problem: FlagProblem) => never;

/** Marks a word that is not a flag. No argument of a program holds a NUL. */
const WORD = "\0";

/** Reads all flags, or those before the first other word. `refuse` must throw. */
export function readFlags(
  args: readonly string[],
  flags: readonly Flag[],
  refuse: Refuse,
  stopEarly = false,
): ReadFlags {
  const named = (bool: boolean) =>
    flags.filter(({ type }) => (type === "bool") === bool).map(({ name }) => name);
  const valued = named(false);
  const { _: words, ...values } = parseArgs(unambiguous(args, flags, refuse, stopEarly), {
    boolean: named(true),
    string: valued,
    collect: valued,
    alias: Object.fromEntries(
      flags.map(({ name, short, aliases = [] }) => [name, short ? [short, ...aliases] : aliases]),
    ),
    stopEarly,
    unknown: (arg, key) =>
      key === undefined ||
      refuse({ kind: "unknown", word: arg.startsWith("--") ? arg.split("=")[0]! : `-${key}` }),
  });
  return {
    values: new Map(flags.flatMap(({ name }) => {
      const value = values[name];
      if (value === true) return [[name, ["true"]]];
      return Array.isArray(value) && value.length > 0 ? [[name, value]] : [];
    })),
    words: words.map((word) => String(word).replace(WORD, "")),
  };
}

/**
 * Words that `parseArgs()` cannot misread. By itself it takes `-n -5` for two flags, the `true` of
 * `--force true` for a value, `--json=no` for `--json`, and `-5` for a flag.
 */
function unambiguous(
  args: readonly string[],
  flags: readonly Flag[],
  refuse: Refuse,
  stopEarly: boolean,
): string[] {
  const words: string[] = [];
  const queue = [...args];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!isFlag(word)) {
      words.push(WORD + word);
      if (stopEarly) return [...words, ...queue];
      continue;
    }
    const { written, flag, value } = split(word, flags);
    if (flag === undefined) {
      words.push(word);
    } else if (flag.type !== "bool") {
      const next = value ?? queue.shift();
      if (next === undefined || next === "") refuse({ kind: "missing_value", word: written, flag });
      words.push(`--${flag.name}=${next}`);
    } else {
      words.push(written);
      // `-fq` is `-f -q`.
      if (value !== undefined && !written.startsWith("--")) queue.unshift(`-${value}`);
      else if (value !== undefined) refuse({ kind: "needless_value", word: written, flag });
    }
  }
  return words;
}

/** A dash alone is a word, and so is a negative number. */
function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith("-") && !/^-\d+$/.test(word);
}

/** `--name=value`, `--name`, `-nvalue`, `-n=value` or `-n`. */
function split(
  word: string,
  flags: readonly Flag[],
): { written: string; flag: Flag | undefined; value: string | undefined } {
  const [, name = "", long] = /^--([^=]+)(=.*)?$/s.exec(word) ?? [];
  if (name !== "") {
    const flag = flags.find((flag) => flag.name === name || flag.aliases?.includes(name));
    return { written: `--${name}`, flag, value: long?.slice(1) };
  }
  const letter = word[1]!;
  const rest = word.slice(2).replace(/^=/, "");
  const flag = flags.find((flag) => flag.short === letter);
  return { written: `-${letter}`, flag, value: rest === "" ? undefined : rest };
}
