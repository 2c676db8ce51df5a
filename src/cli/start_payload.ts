/** Words and flags of `start` → what the daemon is asked for. Pure: the world is given. */

import { ProcsupError } from "../model/errors.ts";
import { nameFromPath } from "../model/name.ts";
import type { StartPayload } from "../protocol/payloads.ts";
import type { Flags } from "./flags.ts";
import { shellWord } from "./shell_word.ts";

/** What `start` was given, and what it may look at. */
export interface StartRequest {
  readonly positionals: readonly string[];
  readonly rest: readonly string[] | undefined;
  readonly flags: Flags;
  /** The current directory. */
  readonly cwd: string;
  readonly cpus: number;
  readonly isFile: (path: string) => boolean;
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

/** Flags that configure an app, those of `TEXT_KEYS` included: a process that exists takes none. */
const CONFIG_FLAGS: readonly string[] = [
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

function existing(word: string, { flags, rest, positionals }: StartRequest): StartPayload {
  const { length } = positionals;
  // Between quotes it is one word, which no name and no file has: `start "npm run web"`.
  if (length === 1 && /^[^:]*\s/.test(word)) {
    throw new ProcsupError("bad_request", `Cannot start "${word}": no such file`, {
      hint: `The words of a command go after "--": procsup start -- ${word}`,
    });
  }
  const given = flags.names().find((name) => CONFIG_FLAGS.includes(name));
  if (given === undefined && rest === undefined) return { target: word };
  const what = given === undefined ? "arguments" : `--${given}`;
  throw new ProcsupError("bad_request", `Cannot use ${what} with "${word}": no such file`, {
    hint: commandHint([word, ...rest ?? []], flags.text("name")),
  });
}

/** How a command that is no file is started; its name is given here, all else as it was. */
export function commandHint(words: readonly string[], name?: string): string {
  const flags = name === undefined ? "" : `--name ${shellWord(name)} `;
  const command = words.map(shellWord).join(" ");
  return `A command on PATH is started with: procsup start ${flags}-- ${command}`;
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

function config(
  { flags, cwd, cpus, variable }: StartRequest,
  entrypoint: string,
): Record<string, unknown> {
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
      ...watch(flags),
      ...some("env", pairs("env", flags.list("env").map((word) => withValue(word, variable)))),
      ...some("env_file", flags.list("env-file").map((file) => against(cwd, file))),
      ...some("labels", pairs("label", flags.list("label"))),
      ...some("tags", flags.list("tag")),
      ...some("sockets", flags.list("socket")),
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

function watch(flags: Flags): Record<string, unknown> {
  const [paths, ignore] = [flags.list("watch-path"), flags.list("watch-ignore")];
  if (!flags.on("watch") && paths.length === 0) {
    if (ignore.length > 0) throw bad("Cannot use --watch-ignore alone: it goes with --watch");
    return {};
  }
  return { watch: { enabled: true, ...some("paths", paths), ...some("ignore", ignore) } };
}

function some(key: string, value: object): Record<string, unknown> {
  return Object.keys(value).length === 0 ? {} : { [key]: value };
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
