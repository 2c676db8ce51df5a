/** Words of the command line → command, flags and positional words, by the command table. */

import { parseArgs } from "@std/cli/parse-args";
import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";
import type { Command, Flag } from "./command.ts";
import { COMMANDS } from "./command_table.ts";
import { commandWords, findCommand } from "./find_command.ts";
import { Flags, type FlagValue } from "./flags.ts";
import { GLOBAL_FLAGS } from "./table/global_flags.ts";

/** A command line as it was understood. */
export interface CommandLine {
  /** Undefined when no command was named. */
  readonly command: Command | undefined;
  readonly flags: Flags;
  readonly positionals: readonly string[];
  /** The words after `--`, undefined without one or when they are positional. */
  readonly rest: readonly string[] | undefined;
}

/** Understands a command line. Throws `bad_request`, with a hint, for what is not in the table. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const dashes = args.indexOf("--");
  const head = split(dashes < 0 ? args : args.slice(0, dashes), GLOBAL_FLAGS);
  const tail = dashes < 0 ? undefined : args.slice(dashes + 1);
  const index = head.length - parse(head, GLOBAL_FLAGS, undefined, true).words.length;
  const word = head[index];
  if (word === undefined) {
    if (tail !== undefined && tail.length > 0) throw noCommand(tail);
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
  const words = split([...preset, ...head.toSpliced(index, 1)], all);
  const parsed = parse(words, all, command);
  const positionals = command.takesRest ? parsed.words : [...parsed.words, ...tail ?? []];
  if (!parsed.flags.on("help")) checkCount(command, positionals, tail);
  return { command, flags: parsed.flags, positionals, rest: command.takesRest ? tail : undefined };
}

/** Marks a word that `parseArgs` would take for the value of the boolean flag before it. */
const SHIELD = "\0";

/** Words as `parseArgs` reads them right: `-eA=1` apart, no word that looks like a boolean or a flag. */
function split(words: readonly string[], flags: readonly Flag[]): string[] {
  const valued = new Set(flags.filter((flag) => flag.type !== "bool").map((flag) => flag.short));
  return words.flatMap((word) => {
    if (word === "true" || word === "false" || /^-\d+$/.test(word)) return [SHIELD + word];
    const attached = /^-([A-Za-z])=?(.+)$/s.exec(word);
    return attached !== null && valued.has(attached[1])
      ? [`-${attached[1]}`, attached[2]!]
      : [word];
  });
}

function parse(
  words: readonly string[],
  flags: readonly Flag[],
  command?: Command,
  stopEarly = false,
): { flags: Flags; words: string[] } {
  const names = (of: (flag: Flag) => boolean) => flags.filter(of).flatMap(namesOf);
  const raw = parseArgs(words, {
    boolean: names((flag) => flag.type === "bool"),
    string: ["_", ...names((flag) => flag.type !== "bool")],
    collect: names((flag) => flag.type === "list"),
    alias: Object.fromEntries(flags.map((flag) => [flag.name, namesOf(flag).slice(1)])),
    stopEarly,
    unknown: (arg, key) => {
      if (key !== undefined) throw unknownFlag(arg, key, flags, command);
    },
  });
  const values = new Map<string, FlagValue>();
  for (const flag of flags) {
    const value = flagValue(flag, raw[flag.name], command);
    if (value !== undefined) values.set(flag.name, value);
  }
  return { flags: new Flags(values), words: raw._.map(unshielded) };
}

function namesOf(flag: Flag): string[] {
  return [flag.name, ...(flag.short === undefined ? [] : [flag.short]), ...flag.aliases ?? []];
}

function unshielded(word: string): string {
  return word.startsWith(SHIELD) ? word.slice(1) : word;
}

function flagValue(flag: Flag, raw: unknown, command?: Command): FlagValue | undefined {
  if (flag.type === "bool") return raw === true ? true : undefined;
  if (flag.type === "list") {
    const items = (raw as string[]).map(unshielded);
    if (items.includes("")) throw missingValue(flag, command);
    return items.length === 0 ? undefined : items;
  }
  if (raw === undefined) return undefined;
  const text = unshielded(raw as string);
  if (text === "") throw missingValue(flag, command);
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw usage(
      `Invalid value "${text}" for --${flag.name}: one of ${flag.choices.join(", ")}`,
      command,
    );
  }
  if (flag.type === "text") return text;
  if (!/^\d{1,9}$/.test(text)) {
    throw usage(`Invalid value "${text}" for --${flag.name}: a whole number is expected`, command);
  }
  return Number(text);
}

function checkCount(command: Command, words: readonly string[], rest?: readonly string[]): void {
  const [fewest, most] = command.words;
  if (words.length > most) throw usage(`Unexpected word "${words[most]}"`, command);
  const enough = words.length >= fewest ||
    (command.takesRest && rest !== undefined && rest.length > 0);
  if (!enough) {
    throw usage(`Too few words for "${command.name}": ${command.usage} is expected`, command);
  }
}

function missingValue(flag: Flag, command?: Command): ProcsupError {
  return usage(`Missing value of --${flag.name}: ${flag.value ?? "a value"} is expected`, command);
}

function unknownFlag(
  arg: string,
  key: string,
  flags: readonly Flag[],
  command?: Command,
): ProcsupError {
  const empty = flags.find((flag) => key === `${flag.name}=`);
  if (empty !== undefined) return missingValue(empty, command);
  const long = arg.startsWith("--");
  const near = long
    ? didYouMean(key, flags.flatMap(namesOf).filter((n) => n.length > 1))
    : undefined;
  const shown = `Unknown flag "${long ? "--" : "-"}${key}"`;
  if (near !== undefined) return usage(shown, command, `Did you mean "--${near}"?`);
  if (command?.takesRest) return usage(shown, command, 'Flags of the app itself go after "--"');
  return usage(shown, command);
}

function unknownCommand(word: string): ProcsupError {
  const near = didYouMean(word, commandWords(COMMANDS));
  const hint = near === undefined ? "procsup help" : `Did you mean "procsup ${near}"?`;
  return usage(`Unknown command "${word}"`, undefined, hint);
}

function noCommand(tail: readonly string[]): ProcsupError {
  return usage("No command given", undefined, `procsup start -- ${tail[0]}`);
}

function usage(message: string, command: Command | undefined, hint?: string): ProcsupError {
  const help = command === undefined ? "procsup help" : `procsup help ${command.name}`;
  return new ProcsupError("bad_request", message, { hint: hint ?? help });
}
