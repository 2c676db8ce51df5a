/** Parses the command line into command, flags and positional words, by the command table. */

import { ProcsupError } from "../model/errors.ts";
import { shellWord } from "../model/shell_line.ts";
import { parseArgs } from "@std/cli/parse-args";
import { type Command, commandWords, findCommand } from "./command.ts";
import { COMMANDS } from "./command_table.ts";
import { type Flag, Flags, type FlagValue, GLOBAL_FLAGS } from "./flags.ts";
import { meantHint, UnknownWordError } from "./unknown_word.ts";
import { commandHint, type Hint } from "../model/hint.ts";

export interface CommandLine {
  /** Undefined when no command was named. */
  readonly command: Command | undefined;
  readonly flags: Flags;
  readonly positionals: readonly string[];
  /** The words after `--`; undefined without `--`, or when those words are positional. */
  readonly rest: readonly string[] | undefined;
}

/** Parses a command line. Throws `bad_request` with a hint for a word that is not in the table. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const dashes = args.indexOf("--");
  const head = dashes < 0 ? args : args.slice(0, dashes);
  const tail = dashes < 0 ? undefined : args.slice(dashes + 1);
  const index = head.length - parse(head, GLOBAL_FLAGS, undefined, true).words.length;
  const word = head[index];
  if (word === undefined) {
    if (tail !== undefined && tail.length > 0) {
      const start = `procsup start -- ${tail.map(shellWord).join(" ")}`;
      throw usage("No command given", undefined, start);
    }
    return {
      command: undefined,
      flags: parse(head, GLOBAL_FLAGS).flags,
      positionals: [],
      rest: undefined,
    };
  }
  const found = findCommand(COMMANDS, word);
  if (found === undefined) throw unknownCommand(word);
  const { command, preset } = found;
  const all = [...command.flags, ...GLOBAL_FLAGS];
  const parsed = parse([...preset, ...head.toSpliced(index, 1)], all, command);
  const positionals = command.takesRest ? parsed.words : [...parsed.words, ...tail ?? []];
  if (!parsed.flags.on("help")) checkCount(command, positionals, tail);
  if (parsed.flags.text("output") === "pid" && !command.pids) {
    throw usage(`Cannot use -o pid with "${command.name}": it prints no process ids`, command);
  }
  return { command, flags: parsed.flags, positionals, rest: command.takesRest ? tail : undefined };
}

/** Reads only `--json` and `--output`, so that a malformed command line still has a format. */
export function formatFlags(args: readonly string[]): Flags {
  const values = new Map<string, FlagValue>();
  const words = args.slice(0, args.indexOf("--") < 0 ? undefined : args.indexOf("--"));
  for (const [index, word] of words.entries()) {
    if (!isFlag(word)) continue;
    const { flag, value = words[index + 1] } = split(word, GLOBAL_FLAGS);
    if (flag?.name === "json") values.set("json", true);
    if (flag?.name === "output" && flag.choices?.includes(value ?? "")) {
      values.set("output", value!);
    }
  }
  return new Flags(values);
}

/** Reads flags and words; with `stopEarly`, only the flags before the first other word. */
function parse(
  args: readonly string[],
  flags: readonly Flag[],
  command?: Command,
  stopEarly = false,
): { flags: Flags; words: readonly string[] } {
  const named = (bool: boolean) =>
    flags.filter(({ type }) => (type === "bool") === bool).map(({ name }) => name);
  const valued = named(false);
  const { _: words, ...values } = parseArgs(unambiguous(args, flags, command, stopEarly), {
    boolean: named(true),
    string: valued,
    collect: valued,
    stopEarly,
  });
  const read = new Map<string, FlagValue>();
  for (const flag of flags) {
    const value = values[flag.name];
    if (value === true) read.set(flag.name, true);
    else if (Array.isArray(value) && value.length > 0) {
      read.set(flag.name, flagValue(flag, value, command));
    }
  }
  return { flags: new Flags(read), words: words.map((word) => String(word).replace(WORD, "")) };
}

/** If a flag that takes one value is repeated, the last value counts. */
function flagValue(flag: Flag, given: readonly string[], command?: Command): FlagValue {
  if (flag.type === "list") return given;
  const text = given.at(-1)!;
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    // PM2's `--output` names a log file.
    const isFile = flag.name === "output" && command?.flags.some(({ name }) => name === "stdout");
    throw usage(
      `Invalid value "${text}" for --${flag.name}: expected one of ${flag.choices.join(", ")}`,
      command,
      isFile ? "The file of an app's output is named by --stdout" : undefined,
    );
  }
  if (flag.type === "text") return text;
  if (!/^\d{1,9}$/.test(text)) {
    throw usage(
      `Invalid value "${text}" for --${flag.name}: expected a whole number of up to 9 digits`,
      command,
    );
  }
  return Number(text);
}

function checkCount(command: Command, words: readonly string[], rest?: readonly string[]): void {
  const [fewest, most] = wordCount(command.usage);
  const word = words[most];
  if (word !== undefined) {
    const hint = commandHint("help", command.name);
    throw new UnknownWordError(`Unexpected word "${word}"`, hint, word, command.name);
  }
  const enough = words.length >= fewest ||
    (command.takesRest && rest !== undefined && rest.length > 0);
  if (!enough) {
    const hint = command.usage.startsWith("<target…>")
      ? `procsup ${command.name} <name>, or procsup ${command.name} all`
      : undefined;
    throw usage(`Too few words for "${command.name}": expected ${command.usage}`, command, hint);
  }
}

/** Minimum and maximum number of positional words: `<a> [b]` is 1 to 2, `<a…>` is 1 or more. */
function wordCount(usage: string): readonly [number, number] {
  const [words = ""] = usage.split(/\s*\|?\s*\[?--/);
  const required = words.match(/<[^>]+>/g) ?? [];
  const optional = words.match(/\[[^\]]+\]/g) ?? [];
  return [required.length, words.includes("…") ? Infinity : required.length + optional.length];
}

function unknownFlag(word: string, flags: readonly Flag[], command?: Command): ProcsupError {
  const names = flags.flatMap((flag) => [flag.name, ...flag.aliases ?? []]);
  const otherwise = command?.takesRest ? 'Flags of the app itself go after "--"' : helpOf(command);
  const known = word.startsWith("--") ? names : [];
  const hint = meantHint("--", word.slice(2), known, otherwise);
  return new UnknownWordError(`Unknown flag "${word}"`, hint, word, command?.name);
}

function unknownCommand(word: string): ProcsupError {
  const hint = meantHint("procsup ", word, commandWords(COMMANDS), commandHint("help"));
  return new UnknownWordError(`Unknown command "${word}"`, hint, word);
}

function usage(message: string, command: Command | undefined, hint?: string): ProcsupError {
  return new ProcsupError("bad_request", message, { hint: hint ?? helpOf(command) });
}

function helpOf(command: Command | undefined): Hint {
  return commandHint("help", command?.name);
}

/** Marks a word that is not a flag. No argument of a program holds a NUL. */
const WORD = "\0";

/**
 * Rewrites the words so that `parseArgs()` cannot misread them. It would take `-n -5` for two
 * flags, the `true` of `--force true` for a value, `--json=no` for `--json`, and `-5` for a flag.
 * Throws `bad_request` for a flag that is unknown, or has no value or a needless one.
 */
function unambiguous(
  args: readonly string[],
  flags: readonly Flag[],
  command: Command | undefined,
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
    if (flag === undefined) throw unknownFlag(written, flags, command);
    if (flag.type !== "bool") {
      const next = value ?? queue.shift();
      if (next === undefined || next === "") {
        throw usage(`Missing value of --${flag.name}: expected ${flag.value}`, command);
      }
      words.push(`--${flag.name}=${next}`);
      continue;
    }
    // `-fq` is `-f -q`.
    if (value !== undefined && !written.startsWith("--")) queue.unshift(`-${value}`);
    else if (value !== undefined) throw usage(`${written} takes no value`, command);
    words.push(`--${flag.name}`);
  }
  return words;
}

/** A single dash and a negative number are words, not flags. */
function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith("-") && !/^-\d+$/.test(word);
}

/** Splits `--name=value`, `--name`, `-nvalue`, `-n=value` or `-n`. */
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
