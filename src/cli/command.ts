/** The commands: what a row of the table is, how to find one, and what it runs with. */

import type { Engine } from "../contexts/contexts.ts";
import type { Host } from "../contexts/ssh.ts";
import type { Flag, Flags } from "./flags.ts";
import type { Output } from "./output.ts";

/** Runs a command; returns the exit code, or undefined for 0. Throws `ProcsupError`. */
export type RunCommand = (context: CommandContext) => Promise<number | void> | number | void;

/** One command, as data: parsing, help and suggestions are derived from it. */
export interface Command {
  readonly name: string;
  /** Other names, each with the words it stands for beyond the name: `jlist` is `list --json`. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly group: string;
  /** Topic of its documentation page. */
  readonly page: string;
  /** Acts on this machine only, or on no daemon: refuses `--host` and ignores contexts. */
  readonly local?: boolean;
  /** Hidden from the help: used by programs. */
  readonly hidden?: boolean;
  readonly summary: string;
  /** The words after the name, such as `<target…>`. Also sets how many words are allowed. */
  readonly usage: string;
  /** Allowed values of the first word, if it is not a target. */
  readonly verbs?: readonly string[];
  /** True if words after `--` belong to an app; otherwise they are positional. */
  readonly takesRest: boolean;
  readonly flags: readonly Flag[];
  /** Whether it prints process ids with `-o pid`. */
  readonly pids?: boolean;
  readonly examples: readonly string[];
  /** Loads the module of the command when it runs. */
  readonly load: () => Promise<RunCommand>;
}

/** A row of a command table. The other fields are derived, or common to the whole table. */
export interface CommandRow
  extends
    Omit<Command, "group" | "usage" | "takesRest" | "flags" | "examples">,
    Partial<Pick<Command, "usage" | "examples">> {
  /** A function computes them on demand: most commands do not need the flags of `start`. */
  readonly flags?: readonly Flag[] | (() => readonly Flag[]);
}

export interface CommandContext {
  readonly command: Command;
  /** The whole table. */
  readonly commands: readonly Command[];
  readonly flags: Flags;
  readonly positionals: readonly string[];
  /** The words after `--`; undefined without `--`. */
  readonly rest: readonly string[] | undefined;
  /** Absolute path of the daemon's home. Throws `home_unusable` if it cannot be used. */
  readonly home: string;
  /** The remote machine; undefined for this one. Use `homeOf()` for the home there. */
  readonly host: Host | undefined;
  /** The engine that the command acts on instead of a daemon. */
  readonly engine: Engine | undefined;
  readonly output: Output;
}

/** The command with that name or alias, and the words that the alias adds. */
export function findCommand(
  commands: readonly Command[],
  word: string,
): { readonly command: Command; readonly preset: readonly string[] } | undefined {
  for (const command of commands) {
    if (command.name === word) return { command, preset: [] };
    const aliases = command.aliases ?? {};
    if (Object.hasOwn(aliases, word)) return { command, preset: aliases[word]! };
  }
  return undefined;
}

/** The commands that help shows. */
export function shownCommands(commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ hidden }) => !hidden);
}

/** Every name and alias that help shows. */
export function commandWords(commands: readonly Command[]): string[] {
  return shownCommands(commands)
    .flatMap(({ name, aliases = {} }) => [name, ...Object.keys(aliases)]);
}
