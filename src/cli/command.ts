/** A row of the command table. */

import type { Engine } from "../contexts/contexts.ts";
import type { Host } from "../contexts/host.ts";
import type { Flags } from "./flags.ts";
import type { Output } from "./output.ts";

export interface Flag {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Other long names. */
  readonly aliases?: readonly string[];
  /** `list` may be given several times. */
  readonly type: "bool" | "text" | "int" | "list";
  /** How the help calls the value. */
  readonly value?: string;
  /** The only values there are. */
  readonly choices?: readonly string[];
  readonly help: string;
}

/** Runs a command; returns the exit code, nothing for 0. Throws `ProcsupError`. */
export type RunCommand = (context: CommandContext) => Promise<number | void> | number | void;

/** One command, as data: parsing, help and suggestions are derived from it. */
export interface Command {
  readonly name: string;
  /** Other names, each with the words it stands for beyond the name: `jlist` is `list --json`. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly group: string;
  /** Topic of the page about it. */
  readonly page: string;
  /** Acts on this machine, or on no daemon: `--host` is refused, and a context is not asked for. */
  readonly local?: boolean;
  /** Not in the help: for programs. */
  readonly hidden?: boolean;
  readonly summary: string;
  /** What follows the name, which also tells how many words there may be: `<target…>`. */
  readonly usage: string;
  /** What the first word may be, where that is not a target. */
  readonly verbs?: readonly string[];
  /** Whether words after `--` belong to an app; else they are positional. */
  readonly takesRest: boolean;
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Loads the module; only the one that runs is loaded. */
  readonly load: () => Promise<RunCommand>;
}

/** A command as the tables have it: the rest is the same for a whole table, or follows from it. */
export interface CommandRow
  extends
    Omit<Command, "group" | "usage" | "takesRest" | "flags" | "examples">,
    Partial<Pick<Command, "usage" | "examples">> {
  /** A function is called on demand: most commands do not need the flags of `start`. */
  readonly flags?: readonly Flag[] | (() => readonly Flag[]);
}

/** What a command is run with. */
export interface CommandContext {
  readonly command: Command;
  /** The whole table. */
  readonly commands: readonly Command[];
  readonly flags: Flags;
  readonly positionals: readonly string[];
  /** The words after `--`, undefined without one. */
  readonly rest: readonly string[] | undefined;
  /** Absolute path of the daemon's home. Throws `home_unusable` if it cannot be used. */
  readonly home: string;
  /** The other machine that is meant, whose home `home` is not then; undefined for this one. */
  readonly host: Host | undefined;
  /** The engine that is meant instead of a daemon. */
  readonly engine: Engine | undefined;
  readonly output: Output;
}
