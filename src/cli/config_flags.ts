/** Flags that configure an app → keys of its configuration. Pure: the world is given. */

import { ProcsupError } from "../model/errors.ts";
import type { Flags } from "./flags.ts";
import { pathAgainst } from "./path_against.ts";

/** The flags, and what they may look at. */
export interface ConfigFlags {
  readonly flags: Flags;
  /** The current directory. */
  readonly cwd: string;
  readonly cpus: number;
  /** A variable of the shell. */
  readonly variable: (name: string) => string | undefined;
}

/** Flags whose value goes under that key as it is. */
const TEXT_KEYS: Readonly<Record<string, string>> = {
  "name": "name",
  "runtime": "runtime",
  "interpreter": "interpreter",
  "namespace": "namespace",
  "restart": "restart_policy",
  "restart-window": "restart_window",
  "restart-delay": "restart_delay",
  "backoff-max": "backoff_max",
  "min-uptime": "min_uptime",
  "stop-signal": "stop_signal",
  "stop-timeout": "stop_timeout",
  "reload-signal": "reload_signal",
  "user": "uid",
  "max-memory": "max_memory",
  "ready-log": "ready_log",
  "listen-timeout": "listen_timeout",
};

/** Flags that configure an app, those of `TEXT_KEYS` included. */
export const CONFIG_FLAGS: readonly string[] = [
  ...Object.keys(TEXT_KEYS),
  "max-restarts",
  "instances",
  "use-bundle",
  "no-autostart",
  "cwd",
  "env",
  "env-file",
  "watch",
  "watch-path",
  "watch-ignore",
  "socket",
  "tag",
  "label",
  "success-exit-codes",
  "cron",
  "cron-restart",
  "timezone",
];

/** What of a configuration the flags set, in wire form. Throws `bad_request`. */
export function configKeys({ flags, cwd, cpus, variable }: ConfigFlags): Record<string, unknown> {
  const texts = Object.entries(TEXT_KEYS).map(([flag, key]) => [key, flags.text(flag)]);
  const codes = flags.text("success-exit-codes");
  const folder = flags.text("cwd");
  return Object.fromEntries(
    Object.entries({
      ...Object.fromEntries(texts),
      cwd: folder === undefined ? undefined : pathAgainst(cwd, folder),
      max_restarts: flags.int("max-restarts"),
      instances: instanceCount(flags.text("instances"), cpus),
      use_bundle: flags.on("use-bundle") || undefined,
      autostart: flags.on("no-autostart") ? false : undefined,
      success_exit_codes: codes === undefined ? undefined : exitCodes(codes),
      ...schedules(flags),
      ...watch(flags),
      ...some("env", pairs("env", flags.list("env").map((word) => withValue(word, variable)))),
      ...some("env_file", flags.list("env-file").map((file) => pathAgainst(cwd, file))),
      ...some("labels", pairs("label", flags.list("label"))),
      ...some("tags", flags.list("tag")),
      ...some("sockets", flags.list("socket")),
    }).filter(([, value]) => value !== undefined),
  );
}

/** `args`, or nothing where there are none. */
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
    throw bad("Cannot use --timezone alone: it goes with --cron or --cron-restart");
  }
  return { cron, cron_restart };
}

function watch(flags: Flags): Record<string, unknown> {
  const [paths, ignore] = [flags.list("watch-path"), flags.list("watch-ignore")];
  if (!flags.on("watch") && paths.length === 0) {
    if (ignore.length > 0) throw bad("Cannot use --watch-ignore alone: it goes with --watch");
    return {};
  }
  return { watch: { enabled: true, ...some("paths", paths), ...some("ignore", ignore) } };
}

/** `NAME` alone is the shell's own: the daemon, which starts the app, may have another. */
function withValue(word: string, variable: (name: string) => string | undefined): string {
  const value = /^[A-Za-z_]\w*$/.test(word) ? variable(word) : undefined;
  return value === undefined ? word : `${word}=${value}`;
}

function pairs(flag: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => {
    const [key, value] = word.split(/=(.*)/s);
    // The word may be a secret: it is not quoted.
    if (!key || value === undefined) throw bad(missingValue(flag));
    return [key, value];
  }));
}

function missingValue(flag: string): string {
  const own = flag === "env" ? ", or the name of a variable that is set here" : "";
  return `Invalid value of --${flag}: KEY=VALUE is expected${own}`;
}

function instanceCount(text: string | undefined, cpus: number): number | undefined {
  if (text === undefined) return undefined;
  if (text === "max") return cpus;
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw bad(`Invalid value "${text}" for --instances: a number from 1, or "max", is expected`);
  }
  return Number(text);
}

function exitCodes(text: string): number[] {
  return text.split(",").map((code) => {
    if (!/^ *\d{1,3} *$/.test(code)) {
      throw bad(
        `Invalid value "${text}" for --success-exit-codes: numbers and commas are expected`,
      );
    }
    return Number(code);
  });
}

function bad(message: string): ProcsupError {
  return new ProcsupError("bad_request", message, { hint: "procsup help start" });
}
