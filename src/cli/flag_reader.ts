/**
 * Reads flags off the words of a command line, by the flags that there are. By hand: the standard
 * library's parser takes 5 ms of every command to load, and has to be told not to swallow numbers,
 * `true` and unknown flags.
 */

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

/** Reads all flags, or those before the first other word. `refuse` must throw. */
export function readFlags(
  args: readonly string[],
  flags: readonly Flag[],
  refuse: (problem: FlagProblem) => never,
  stopEarly = false,
): ReadFlags {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const queue = [...args];
  const give = (flag: Flag, value: string) => {
    const given = values.get(flag.name);
    if (given === undefined) values.set(flag.name, [value]);
    else given.push(value);
  };
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!isFlag(word)) {
      words.push(word);
      if (stopEarly) words.push(...queue.splice(0));
      continue;
    }
    const { written, flag, value } = split(word, flags);
    if (flag === undefined) refuse({ kind: "unknown", word: written });
    if (flag.type !== "bool") {
      const next = value ?? queue.shift();
      if (next === undefined || next === "") refuse({ kind: "missing_value", word: written, flag });
      give(flag, next);
    } else if (value === undefined) {
      give(flag, "true");
    } else if (!written.startsWith("--")) {
      // `-fq` is `-f -q`.
      give(flag, "true");
      queue.unshift(`-${value}`);
    } else {
      refuse({ kind: "needless_value", word: written, flag });
    }
  }
  return { values, words };
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
