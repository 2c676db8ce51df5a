/** Words and flags of `start` → what the daemon is asked for. Pure: the world is given. */

import { ProcsupError } from "../model/errors.ts";
import { nameFromPath } from "../model/name.ts";
import type { StartPayload } from "../protocol/payloads.ts";
import type { Flags } from "./flags.ts";

/** What `start` was given, and what it may look at. */
export interface StartRequest {
  readonly positionals: readonly string[];
  readonly rest: readonly string[] | undefined;
  readonly flags: Flags;
  /** The current directory. */
  readonly cwd: string;
  readonly cpus: number;
  readonly isFile: (path: string) => boolean;
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
};

/** Flags that configure an app, those of `TEXT_KEYS` included: a process that exists takes none. */
const CONFIG_FLAGS: readonly string[] = [
  ...Object.keys(TEXT_KEYS),
  "max-restarts",
  "instances",
  "use-bundle",
  "no-autostart",
  "cwd",
  "env",
  "tag",
  "label",
  "success-exit-codes",
  "cron",
  "cron-restart",
  "timezone",
];

/** One payload for each thing to start. Throws `bad_request` where the words do not fit together. */
export function startPayloads(request: StartRequest): StartPayload[] {
  const { positionals, rest, flags } = request;
  if (positionals.length === 0) {
    const [command, ...args] = rest ?? [];
    return [{ ...config(request, commandPath(command!, request.cwd)), ...some("args", args) }];
  }
  if (positionals.length > 1 && flags.text("name") !== undefined) {
    throw new ProcsupError("bad_request", "Cannot give one name to several apps", {
      hint: "Start them one by one",
    });
  }
  return positionals.map((word) => {
    const path = entrypointPath(word, request);
    return path === undefined
      ? existing(word, request)
      : { ...config(request, path), ...some("args", rest ?? []) };
  });
}

function existing(word: string, { flags, rest }: StartRequest): StartPayload {
  const given = flags.names().find((name) => CONFIG_FLAGS.includes(name));
  if (given === undefined && rest === undefined) return { target: word };
  const what = given === undefined ? "arguments" : `--${given}`;
  throw new ProcsupError("bad_request", `Cannot use ${what} with "${word}": no such file`, {
    hint: `A command on PATH is started with: procsup start -- ${word}`,
  });
}

/** The file that a word means, undefined when it means a process that exists. */
function entrypointPath(word: string, { cwd, flags, isFile }: StartRequest): string | undefined {
  const here = against(cwd, word);
  if (isFile(here)) return here;
  // As a path it is written against the current directory, but `--cwd DIR app.ts` is plain enough.
  const there = against(against(cwd, flags.text("cwd") ?? "."), word);
  if (isFile(there)) return there;
  return word.includes("/") || word === "." ? here : undefined;
}

/** A bare word is looked up on PATH, by the daemon. */
function commandPath(command: string, cwd: string): string {
  return command.includes("/") ? against(cwd, command) : command;
}

/** The absolute form of a path, without `.` and `..`. */
function against(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function config({ flags, cwd, cpus }: StartRequest, entrypoint: string): Record<string, unknown> {
  const texts = Object.entries(TEXT_KEYS).map(([flag, key]) => [key, flags.text(flag)]);
  const codes = flags.text("success-exit-codes");
  return Object.fromEntries(
    Object.entries({
      name: nameFromPath(entrypoint),
      entrypoint,
      cwd: against(cwd, flags.text("cwd") ?? "."),
      ...Object.fromEntries(texts.filter(([, value]) => value !== undefined)),
      max_restarts: flags.int("max-restarts"),
      instances: instanceCount(flags.text("instances"), cpus),
      use_bundle: flags.on("use-bundle") || undefined,
      autostart: flags.on("no-autostart") ? false : undefined,
      success_exit_codes: codes === undefined ? undefined : exitCodes(codes),
      ...schedules(flags),
      ...some("env", pairs("env", flags.list("env"))),
      ...some("labels", pairs("label", flags.list("label"))),
      ...some("tags", flags.list("tag")),
    }).filter(([, value]) => value !== undefined),
  );
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

function some(key: string, value: object): Record<string, unknown> {
  return Object.keys(value).length === 0 ? {} : { [key]: value };
}

function pairs(flag: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => {
    const [key, value] = word.split(/=(.*)/s);
    // The word may be a secret: it is not quoted.
    if (!key || value === undefined) throw bad(`Invalid value of --${flag}: KEY=VALUE is expected`);
    return [key, value];
  }));
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
