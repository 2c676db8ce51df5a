/**
 * Flags: how commands declare them, in one line each or on demand from the key tables, and those of
 * one command line, read by type.
 */

import { DRIVEN } from "../export/mod.ts";
import { flagName, type Key, type KeyTable } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { lowered } from "../model/plain_text.ts";
import { WEBHOOK_KEYS } from "../model/settings_keys.ts";

export interface Flag {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Other long names. */
  readonly aliases?: readonly string[];
  /** `list` may be given several times. */
  readonly type: "bool" | "text" | "int" | "list";
  /** Placeholder of the value in the help. */
  readonly value?: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  readonly help: string;
  /** The help of `start` shows it. */
  readonly isCommon?: true;
  /**
   * The help of its command leaves it out, unlike `help COMMAND --all`: it is rare, is a flag of
   * `start` too, or has a meaning only with `--on`.
   */
  readonly kind?: "rare" | "start" | "on";
}

/** The value of a parsed flag. */
export type FlagValue = boolean | string | number | readonly string[];

/** The given flags. Reading a flag that the command does not have is a bug. */
export class Flags {
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(values: ReadonlyMap<string, FlagValue>) {
    this.#values = values;
  }

  /** True if a flag without a value was given. */
  on(name: string): boolean {
    return this.#values.get(name) === true;
  }

  /** The value of a flag; undefined if it was not given. */
  text(name: string): string | undefined {
    return this.#values.get(name) as string | undefined;
  }

  /** The value of a numeric flag. */
  int(name: string): number | undefined {
    return this.#values.get(name) as number | undefined;
  }

  /** Every value of a flag that may be repeated. */
  list(name: string): readonly string[] {
    return (this.#values.get(name) ?? []) as readonly string[];
  }

  /** Names of the flags that were given. */
  names(): string[] {
    return [...this.#values.keys()];
  }
}

type Details = Pick<Flag, "short" | "choices">;

/** A flag without a value. */
export function bool(name: string, help: string, more: Details = {}): Flag {
  return { name, type: "bool", help, ...more };
}

/** A flag with a value; `value` is its placeholder in the help. */
export const text = valued("text");
export const int = valued("int");
export const list = valued("list");

function valued(type: "text" | "int" | "list") {
  return (name: string, value: string, help: string, more: Details = {}): Flag => (
    { name, type, value, help, ...more }
  );
}

/** For apps of a file that exist. */
export const UPDATE_ENV: Flag = bool(
  "update-env",
  "with a file: also apps that exist get the environment of this shell",
);

/** Do not wait for readiness. */
export const NO_WAIT: Flag = bool("no-wait", "return at once, without waiting until it is up");

/** Flags of an app that each set a part of two keys. */
const SHARED: readonly Flag[] = [
  text("timezone", "ZONE", "timezone of --cron and --cron-restart (default: the machine's)"),
  text("random-delay", "DURATION", "delay each run of a schedule by a random time up to this"),
  text("log-file", "FILE", "one file for stdout and stderr, in place of two in the home"),
];

/** Placeholders of values in the help. */
const VALUES: Readonly<Record<string, string>> = {
  duration: "DURATION",
  size: "SIZE",
  signal: "SIGNAL",
  int: "N",
  path: "PATH",
  map: "KEY=VALUE",
};

/** Flags that configure an app. */
export const configFlags = (): readonly Flag[] => [...flagsOf(PROCESS_KEYS), ...SHARED];

export const webhookFlags = (): readonly Flag[] => [
  ...flagsOf(WEBHOOK_KEYS),
  text("secret-file", "PATH", "file with the key of the signature"),
  text("secret-env", "NAME", "variable of the daemon's environment with the key"),
];

export function startFlags(): readonly Flag[] {
  const keys = configFlags();
  const rare = keys.filter(({ isCommon }) => !isCommon);
  return [
    ...keys.filter(({ isCommon }) => isCommon),
    NO_WAIT,
    ...ofKind("rare", [...rare, ...FILE_FLAGS, UPDATE_ENV]),
  ];
}

/** Flags that change an existing app. They have no defaults: what is not given stays as it is. */
export function changeFlags(): readonly Flag[] {
  const changes = Object.entries(PROCESS_KEYS).filter(([, { flag }]) => !flag?.onlyNew);
  const keys = [...flagsOf(Object.fromEntries(changes), false), ...SHARED];
  return [...ofKind("start", keys), NO_WAIT];
}

function ofKind(kind: Flag["kind"], flags: readonly Flag[]): readonly Flag[] {
  return flags.map((flag) => ({ ...flag, kind }));
}

function flagsOf(table: KeyTable, withDefaults = true): Flag[] {
  return Object.entries(table).flatMap(([key, row]) => {
    const own = row.flag === undefined ? [] : [flagOf(key, row, withDefaults)];
    return row.type === "object" ? [...own, ...flagsOf(row.keys, withDefaults)] : own;
  });
}

function flagOf(key: string, row: Key, withDefaults: boolean): Flag {
  const { short, aliases, value, help, isCommon, usual = defaultText(row) } = row.flag!;
  const type = typeOf(row);
  const about = help ?? lowered(row.help);
  return {
    name: flagName(key, row)!,
    type,
    help: about + (withDefaults && usual !== undefined ? ` (default: ${usual})` : ""),
    value: type === "bool" ? undefined : value ?? VALUES[row.type] ?? "TEXT",
    short,
    aliases,
    isCommon,
    choices: row.type === "choice" ? row.choices : undefined,
  };
}

function defaultText({ default: value }: Key): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function typeOf(row: Key): Flag["type"] {
  if (row.type === "boolean") return "bool";
  // An integer flag with its own placeholder also accepts words.
  if (row.type === "int" && row.flag!.value === undefined) return "int";
  if (row.type === "map") return "list";
  return row.type === "list" && row.of.type !== "int" ? "list" : "text";
}

/** How data is printed. `table` and `wide` are for people, the rest for programs. */
export const FORMATS = ["table", "wide", "json", "jsonl", "yaml", "name", "pid"] as const;

export const GLOBAL_FLAGS: readonly Flag[] = [
  text("home", "DIR", "folder of the daemon (default: ~/.procsup)"),
  text("host", "HOST", "machine of the daemon, by ssh: user@server, or a context"),
  text("remote-procsup", "PATH", "procsup on that machine (default: on its PATH)"),
  text("output", "FORMAT", "how to print data (default: table); pid: list, status", {
    short: "o",
    choices: FORMATS,
  }),
  bool("json", "same as -o json"),
  bool("quiet", "print data and errors only", { short: "q" }),
  text("color", "WHEN", "when to colour (default: auto)", { choices: ["auto", "always", "never"] }),
  bool("yes", "do not ask", { short: "y" }),
  bool("no-start-daemon", "fail when no daemon runs"),
  bool("help", "show help", { short: "h" }),
  bool("version", "show the version"),
];

export const PROFILE = text("profile", "NAME", "profile of a configuration file");

export const NOTES = bool("notes", "another tool's file: print every note on what differs");

/** Flags of commands that read a configuration file. */
export const FILE_FLAGS: readonly Flag[] = [
  text("only", "A,B", "only these of a configuration file, and what they depend on"),
  PROFILE,
  NOTES,
];

const STACK = text("stack", "NAME", "name of the apps as a group (default: the folder's)");

export const ON = text(
  "on",
  "ENGINE",
  "engine of the apps, see procsup help engines; local: the daemon of this machine",
  { choices: [...DRIVEN, "local"] },
);

export const STRICT = bool("strict", "fail when a key has no counterpart on the engine");

/** How the files of an engine are made. */
const FILES_OF_ENGINE: readonly Flag[] = [
  text("image", "NAME", "image of the apps, see procsup image"),
  STRICT,
  text("ports", "MODE", "swarm: publish ports on every node, or only where the app runs", {
    choices: ["ingress", "host"],
  }),
];

export const EXPORT_FLAGS: readonly Flag[] = [STACK, ...FILES_OF_ENGINE];

/** Which apps of an engine are meant. */
export const PLACE_FLAGS: readonly Flag[] = ofKind("on", [
  STACK,
  text("context", "NAME", "kubernetes, swarm: the context of kubectl or docker"),
  text("cluster-namespace", "NAME", "kubernetes: the namespace (default: that of the context)"),
]);

/** Flags of commands that also work on engines. */
export const ON_FLAGS: readonly Flag[] = [ON, ...PLACE_FLAGS];

/** All flags that only engines have a use for. `up` takes them. */
export const ENGINE_FLAGS: readonly Flag[] = [...PLACE_FLAGS, ...ofKind("on", FILES_OF_ENGINE)];
