/** Converts the flags that configure an app into keys of its configuration. Pure. */

import { ProcsupError } from "../model/errors.ts";
import { flagName, type Key, type KeyTable, turnsOff } from "../model/key_table.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { resolve } from "../npm/path.js";
import type { Flags } from "./flags.ts";

/** The flags and the environment that they depend on. */
export interface ConfigFlags {
  readonly flags: Flags;
  /** The current directory. */
  readonly cwd: string;
  readonly cpus: number;
  readonly variable: (name: string) => string | undefined;
}

/** The keys set by flags, in wire form. Throws `bad_request`. */
export function configKeys(request: ConfigFlags): Record<string, unknown> {
  const keys = keysOf(PROCESS_KEYS, request);
  const { watch } = keys as { watch?: Record<string, unknown> };
  if (watch !== undefined && watch.enabled === undefined && watch.paths === undefined) {
    throw bad("Cannot use --watch-ignore without --watch");
  }
  return onlyGiven({
    ...keys,
    watch: watch && { ...watch, enabled: true },
    ...schedules(request.flags),
    log: oneLog(request, keys.log),
  });
}

function oneLog({ flags, cwd }: ConfigFlags, log: unknown): unknown {
  const file = flags.text("log-file");
  if (file === undefined) return log;
  if (log !== undefined) throw bad("Cannot use --log-file with --stdout or --stderr: it is both");
  return { stdout: resolve(cwd, file), stderr: resolve(cwd, file) };
}

export function keysOf(table: KeyTable, request: ConfigFlags): Record<string, unknown> {
  const entries = Object.entries(table).map(([key, row]) => {
    const name = flagName(key, row);
    const value = name === undefined ? undefined : flagValue(key, name, row, request);
    if (value !== undefined || row.type !== "object") return [key, value] as const;
    const inner = keysOf(row.keys, request);
    return [key, Object.keys(inner).length === 0 ? undefined : inner] as const;
  });
  return onlyGiven(Object.fromEntries(entries));
}

/** The value of a key's flag; undefined if the flag was not given. */
function flagValue(key: string, flag: string, row: Key, request: ConfigFlags): unknown {
  const { flags, cwd, cpus, variable } = request;
  if (row.type === "boolean") return flags.on(flag) ? !turnsOff(row) : undefined;
  const words = row.type === "map" ? flags.list(flag) : [];
  if (key === "env") return someOf(pairs(flag, words.map((word) => withValue(word, variable))));
  if (row.type === "map") return someOf(pairs(flag, words));
  if (row.type === "list" && row.of.type !== "int") {
    const isPath = row.of.type === "path" && !row.flag?.relative;
    return someOf(flags.list(flag).map((word) => isPath ? resolve(cwd, word) : word));
  }
  const text = flags.text(flag);
  if (text === undefined) return undefined;
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
  const timezone = flags.text("timezone");
  const given = (flag: string) => {
    const schedule = flags.text(flag);
    return schedule === undefined || timezone === undefined ? schedule : { schedule, timezone };
  };
  const [cron, cron_restart] = [given("cron"), given("cron-restart")];
  if (timezone !== undefined && cron === undefined && cron_restart === undefined) {
    throw bad("Cannot use --timezone without --cron or --cron-restart");
  }
  return { cron, cron_restart };
}

/** `NAME` alone gets its value from this shell: the daemon's environment may differ. */
function withValue(word: string, variable: (name: string) => string | undefined): string {
  const value = /^[A-Za-z_]\w*$/.test(word) ? variable(word) : undefined;
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
  return new ProcsupError("bad_request", message, { hint: "procsup help start" });
}
