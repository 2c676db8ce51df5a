/** Converts the flags that configure an app into keys of its configuration. */

import { ProcsupError } from "../model/errors.ts";
import { flagName, type Key, type KeyTable, turnsOff } from "../model/key_table.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { resolve } from "@std/path";
import { here } from "../platform/files/paths.ts";
import { lookAt } from "../platform/files/stat.ts";
import type { CommandContext } from "./command.ts";
import type { Flags } from "./flags.ts";
import { commandHint } from "../model/hint.ts";

/** The flags, and the machine and folder that they refer to. */
export interface Place {
  readonly flags: Flags;
  /** The current directory. */
  readonly cwd: string;
  readonly cpus: number;
  readonly variable: (name: string) => string | undefined;
  /** True if an absolute path is a file there. */
  readonly isFile: (path: string) => boolean;
}

/** The place of a command. On another machine, only paths that the words may name are looked up. */
export async function placeOf({ flags, host, positionals }: CommandContext): Promise<Place> {
  const variable = (name: string) => Deno.env.get(name);
  if (host === undefined) {
    const isFile = (path: string) => lookAt(path)?.isFile === true;
    return { flags, cwd: here(), cpus: navigator.hardwareConcurrency, variable, isFile };
  }
  const { cwd, cpus } = await host.hello();
  const folders = [cwd, resolve(cwd, flags.text("cwd") ?? ".")];
  const paths = positionals.flatMap((word) => folders.map((folder) => resolve(folder, word)));
  const { LOOK_PATH } = await import("../contexts/ssh.ts");
  const files = new Set(paths.length === 0 ? [] : await host.ask<string[]>(LOOK_PATH, paths));
  return { flags, cwd, cpus, variable, isFile: (path) => files.has(path) };
}

/** The keys set by flags, in wire form. Throws `bad_request`. */
export function configKeys(place: Place): Record<string, unknown> {
  const keys = keysOf(PROCESS_KEYS, place);
  const { watch } = keys as { watch?: Record<string, unknown> };
  if (watch !== undefined && watch.enabled === undefined && watch.paths === undefined) {
    const flag = ["ignore", "action", "poll"].find((key) => watch[key] !== undefined);
    throw bad(`Cannot use --watch-${flag} without --watch`);
  }
  return onlyGiven({
    ...keys,
    watch: watch && { ...watch, enabled: true },
    ...schedules(place.flags),
    log: oneLog(place, keys.log),
  });
}

function oneLog({ flags, cwd }: Place, log: unknown): unknown {
  const file = flags.text("log-file");
  if (file === undefined) return log;
  if (log !== undefined) throw bad("Cannot use --log-file with --stdout or --stderr: it is both");
  return { stdout: resolve(cwd, file), stderr: resolve(cwd, file) };
}

export function keysOf(table: KeyTable, place: Place): Record<string, unknown> {
  const entries = Object.entries(table).map(([key, row]) => {
    const name = flagName(key, row);
    const value = name === undefined ? undefined : flagValue(key, name, row, place);
    if (value !== undefined || row.type !== "object") return [key, value] as const;
    return [key, someOf(keysOf(row.keys, place))] as const;
  });
  return onlyGiven(Object.fromEntries(entries));
}

/** The value of a key's flag; undefined if the flag was not given. */
function flagValue(key: string, flag: string, row: Key, place: Place): unknown {
  const { flags, cwd, cpus, variable } = place;
  if (row.type === "boolean") return flags.on(flag) ? !turnsOff(row) : undefined;
  const words = row.type === "map" ? flags.list(flag) : [];
  if (key === "env") return someOf(pairs(flag, words.map((word) => withValue(word, variable))));
  if (row.type === "map") return someOf(pairs(flag, words));
  if (row.type === "list" && row.of.type !== "int") {
    const { of } = row;
    const item = of.type === "either" ? of.of[0]! : of;
    const isPath = item.type === "path" && !row.flag?.relative;
    return someOf(flags.list(flag).map((word) => isPath ? resolve(cwd, word) : word));
  }
  const text = flags.text(flag);
  if (text === undefined) return undefined;
  if (row.type === "either" && ["true", "false"].includes(text)) return text === "true";
  if (key === "instances") return instanceCount(text, cpus);
  if (row.type === "list") return numbers(flag, text);
  return row.type === "path" ? resolve(cwd, text) : text;
}

function someOf<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

/** An object with one key; empty if the value is empty. */
export function some(key: string, value: object): Record<string, unknown> {
  return Object.keys(value).length === 0 ? {} : { [key]: value };
}

function schedules(flags: Flags): Record<string, unknown> {
  const [schedule, every, restarts] = ["cron", "every", "cron-restart"].map((flag) =>
    flags.text(flag)
  );
  const isJob = schedule !== undefined || every !== undefined;
  const shared = { timezone: flags.text("timezone"), random_delay: flags.text("random-delay") };
  const catch_up = flags.text("catch-up");
  if (catch_up !== undefined && !isJob) {
    throw bad("Cannot use --catch-up without --cron or --every");
  }
  const [stray] = Object.keys(onlyGiven(shared));
  if (stray !== undefined && !isJob && restarts === undefined) {
    const flag = stray.replaceAll("_", "-");
    throw bad(`Cannot use --${flag} without --cron, --every or --cron-restart`);
  }
  return {
    cron: isJob ? shortest(onlyGiven({ schedule, every, ...shared, catch_up })) : undefined,
    cron_restart: restarts && shortest(onlyGiven({ schedule: restarts, ...shared })),
  };
}

/** A schedule alone is a text. */
function shortest(keys: { readonly schedule?: string }): unknown {
  return keys.schedule !== undefined && Object.keys(keys).length === 1 ? keys.schedule : keys;
}

/** `NAME` alone gets its value from this shell: the daemon's environment may differ. */
function withValue(word: string, variable: (name: string) => string | undefined): string {
  const value = word === "" || word.includes("=") ? undefined : variable(word);
  return value === undefined ? word : `${word}=${value}`;
}

function pairs(flag: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => {
    const [key, value] = word.split(/=(.*)/s);
    // The word may be a secret: do not quote it.
    if (!key || value === undefined) {
      const own = flag === "env" ? ", or the name of a variable that is set here" : "";
      throw bad(`Invalid value of --${flag}: expected KEY=VALUE${own}`);
    }
    return [key, value];
  }));
}

function instanceCount(text: string, cpus: number): number {
  if (text === "max") return cpus;
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw bad(`Invalid value "${text}" for --instances: expected a number from 1, or "max"`);
  }
  return Number(text);
}

function numbers(flag: string, text: string): number[] {
  return text.split(",").map((code) => {
    if (/^ *\d{1,3} *$/.test(code)) return Number(code);
    throw bad(`Invalid value "${text}" for --${flag}: expected numbers and commas`);
  });
}

function bad(message: string): ProcsupError {
  return new ProcsupError("bad_request", message, { hint: commandHint("help", "start") });
}
