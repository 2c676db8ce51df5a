/** Converts service units of systemd. */

import { mapOf } from "../model/merge_patch.ts";
import { nameFromPath } from "../model/name.ts";
import { splitWords } from "../model/shell_line.ts";
import { basename } from "@std/path";
import type { ConfigDocument, Path } from "../config/document.ts";
import { underFiles, UNREAD } from "../config/env_file.ts";
import { ConfigProblem } from "../config/problem.ts";
import {
  alike,
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type Keys,
  logFileProblem,
  logFiles,
  lost,
  rowFor,
  texts,
  UNLIMITED,
  UNSUPPORTED,
} from "./imported.ts";
import { isNumber, span } from "./calendar.ts";
import { ImportResult } from "./import_result.ts";
import { lostOfTimer, scheduleOf, timerOf, triggered } from "./timer.ts";
import { readUnit, type Unit, type Values } from "./unit.ts";

export const systemd: Importer = {
  matches: ({ kind }) => kind === "systemd",
  convert,
};

type Settings = ReadonlyMap<string, Values>;

const FAILURE = "webhooks report it, or hooks.post_stop runs a command";

/** What to do about a unit that this one names. */
const OTHER_UNIT = "depends_on, if it runs here too";

/** Settings of [Unit] and [Service]. Converters receive all values of one that may be repeated. */
const SETTINGS: ImportTable<Values, undefined> = {
  ...handled("Description", "Documentation", "SyslogIdentifier", "NotifyAccess"),
  ...alike(lostLog, "StandardOutput", "StandardError"),
  ...alike(window, "StartLimitInterval", "StartLimitIntervalSec"),
  ...alike(OTHER_UNIT, "After", "Before", "BindsTo", "PartOf", "Requires", "Wants"),
  ...alike(FAILURE, "OnFailure"),
  OnSuccess: "hooks.post_stop, or depends_on with completed_ok",
  RemainAfterExit: ([value]) => ({
    lost: isOn(value) ? "it is stopped after it has run" : undefined,
  }),
  Type: ([value]) => ({
    ...(value === "oneshot" ? { min_uptime: "0s" } : {}),
    ...(/^notify/.test(value!) ? { notify: true, wait_ready: true } : {}),
    ...(value === "notify-reload" ? { reload_signal: "SIGHUP" } : {}),
    lost: value === "dbus" ? "ready by a health_check" : undefined,
  }),
  WorkingDirectory: ([value]) =>
    value!.startsWith("~") ? { lost: UNSUPPORTED } : { cwd: value!.replace(/^-/, "") },
  User: ([value]) => ({ uid: value }),
  Group: ([value]) => ({ gid: value }),
  UMask: ([value]) => ({ umask: value!.padStart(3, "0") }),
  Nice: ([value]) => ({ nice: Number(value) }),
  Environment: (values) => ({ env: Object.fromEntries(values.flatMap(pairs)) }),
  EnvironmentFile: (values) => ({
    env_file: values.map((value) =>
      value.startsWith("-") ? { path: value.slice(1), required: false } : value
    ),
  }),
  Restart: ([value]) => {
    const policy = rowFor(RESTART, value!) ?? value;
    const isSame = value === policy || value === "no";
    return { restart_policy: policy, lost: isSame ? undefined : `${policy} is the nearest` };
  },
  RestartSec: ([value]) => ({ restart_delay: span(value!), backoff_max: span(value!) }),
  StartLimitBurst: ([value]) => isZero(value!) ? {} : { max_restarts: Number(value) },
  SuccessExitStatus: (values) => {
    const codes = values.flatMap(splitWords);
    return {
      success_exit_codes: [0, ...codes.filter(isNumber)].map(Number),
      lost: codes.every(isNumber) ? undefined : "exit codes only",
    };
  },
  KillMode: ([value]) => ({
    stop_mode: rowFor({ process: "leave", none: "leave", mixed: "main" }, value!),
    lost: value === "none" ? "the stop signal is sent to the main process" : undefined,
  }),
  SendSIGKILL: ([value]) => isOn(value) ? {} : { stop_timeout: span("infinity") },
  SendSIGHUP: ([value]) => ({ lost: isOn(value) ? UNSUPPORTED : undefined }),
  KillSignal: ([value]) =>
    /^(SIG)?RT/.test(value!) ? { lost: UNSUPPORTED } : { stop_signal: value },
  TimeoutStopSec: ([value]) => stopTimeout(value!),
  TimeoutStartSec: ([value]) => startTimeout(value!),
  TimeoutSec: ([value]) => ({ ...startTimeout(value!), ...stopTimeout(value!) }),
  RuntimeMaxSec: ([value]) => isEndless(value!) ? {} : { max_age: span(value!) },
  WatchdogSec: ([value]) => isEndless(value!) ? {} : { watchdog: span(value!) },
  ExecReload: ([value]) => {
    const [, signal] = /kill\s+-(?:s\s+)?(\w+)\s+\$\{?MAINPID/.exec(value!) ?? [];
    return signal === undefined
      ? { lost: "reload_signal, or a hook" }
      : { reload_signal: signal.replace(/^(?!SIG|\d)/, "SIG") };
  },
  ExecStart: (values) => ({ ...programOf(values), lost: lostPrefix(values) }),
  ExecStartPre: (values) => hook("pre_start", values),
  ExecStartPost: (values) => hook("post_start", values),
  ExecStop: "stop_signal, or hooks.pre_stop",
  ExecStopPost: (values) => hook("post_stop", values),
  LimitNOFILE: ([value]) => limit("nofile", value!),
  LimitNPROC: ([value]) => limit("nproc", value!),
  LimitCORE: ([value]) => limit("core", value!),
  LimitAS: ([value]) => limit("address_space", value!),
  LimitFSIZE: ([value]) => limit("file_size", value!),
  MemoryMax: ([value]) => limit("memory", value!),
  MemoryHigh: ([value]) => limit("memory_high", value!),
  CPUWeight: ([value]) =>
    isNumber(value!) ? { limits: { cpu_weight: Number(value) } } : { lost: UNSUPPORTED },
  NoNewPrivileges: ([value]) => ({ no_new_privs: isOn(value) }),
  PrivateTmp: ([value]) => ({ private_tmp: isOn(value) }),
  ProtectSystem: ([value]) => value === "strict" ? { read_only: true } : { lost: UNSUPPORTED },
  ReadWritePaths: (values) => ({
    writable: values.flatMap(splitWords).map((path) => path.replace(/^[-+]+/, "")),
  }),
  MemoryLimit: ([value]) => limit("memory", value!),
  TasksMax: ([value]) => limit("pids", value!),
  CPUQuota: ([value]) => limit("cpu_percent", value!.replace("%", "")),
};

/** Settings of which systemd uses every value; of the others it uses the last one. */
const REPEATED = /^(Exec\w+|Environment|EnvironmentFile|SuccessExitStatus)$/;

const RESTART: Readonly<Record<string, string>> = {
  "no": "never",
  "always": "always",
  "on-failure": "on-failure",
  "on-abnormal": "on-failure",
  "on-abort": "on-failure",
  "on-watchdog": "on-failure",
  "on-success": "always",
};

/** Units that are up before any service of procsup. */
const BOOT =
  /^(network(-online|-pre)?|multi-user|basic|sysinit|local-fs|remote-fs|syslog|default|nss-lookup|time-sync)\.target$/;

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const named = readUnit(document.file, document.text);
  const isTimer = document.file.endsWith(".timer") || named.sections.has("Timer");
  const unit = isTimer ? triggered(named) : named;
  const { file, sections } = unit;
  const timer = isTimer ? named : timerOf(file);
  const placeOf = (path: Path) =>
    path.includes("Timer") ? timer?.placeOf(path.slice(-2)) : unit.placeOf(path);
  const result = new ImportResult({ ...document, file }, { context, placeOf });
  const given = [...sections.get("Unit") ?? [], ...sections.get("Service") ?? []]
    .map(([key, values]) => [key, usedValues(key, values)] as const)
    .filter(([, values]) => values.length > 0);
  const specifiers = specifiersOf(basename(file));
  const settings: Settings = new Map(
    given.map(([key, values]) => [
      key,
      values.map((text) => text.replace(/%(.)/g, (whole, letter) => specifiers[letter] ?? whole)),
    ]),
  );
  refuse(unit, settings);
  const shown = (key: string, values: Values) => `${key}=${values.join(" ")}`;
  const { keys, notes, origins } = convertedKeys(SETTINGS, settings, undefined, shown);
  const { env: own, env_file: files = [] } = keys;
  const paths = (files as (string | { path: string })[]).map((one) =>
    typeof one === "string" ? one : one.path
  );
  const { env, unread } = underFiles(texts(mapOf(own)), paths, "/");
  const isUnlimited = isZero(settings.get("StartLimitBurst")?.[0] ?? "");
  const schedule = timer === undefined ? undefined : scheduleOf(timer);
  const name = nameFromPath(basename(file).replace(/@?\.service$/, ""));
  const taken = result.add(name, {
    ...{ ...USUAL, ...keys, ...(isUnlimited ? UNLIMITED : {}), env },
    ...withStartTimeout(mapOf(keys.hooks), settings),
    ...(schedule !== undefined
      ? { cron: schedule, restart_policy: "never" }
      // Nothing starts it at boot.
      : timer !== undefined || !sections.has("Install")
      ? { autostart: false }
      : {}),
    ...logsOf(settings, result),
  }, { path: ["Service"], keys: origins });
  const unreadable = unread.map((path) =>
    lost("EnvironmentFile", UNREAD, `EnvironmentFile=${path}`)
  );
  result.note(taken, ...unreadable, ...notes);
  if (timer !== undefined) result.note(taken, ...lostOfTimer(timer, schedule !== undefined));
  for (const [key, values] of given) {
    const left = values.join(" ").replaceAll("%%", "").match(/%[a-zA-Z]/g) ?? [];
    const [unknown] = left.filter((one) => specifiers[one[1]!] === undefined);
    if (unknown !== undefined && isConverted(key)) {
      result.note(taken, lost(key, "it is not filled in", `${key} ${unknown}`));
    }
  }
  for (const [key, values] of sections.get("Install") ?? []) {
    if (key === "WantedBy") continue;
    result.note(undefined, lost(["Install", key], UNSUPPORTED, `[Install] ${shown(key, values)}`));
  }
  const others = [...sections.keys()].filter((name) =>
    !/^(Unit|Service|Install|Timer|X-.*)$/.test(name)
  );
  result.note(undefined, ...others.map((name) => lost([name], UNSUPPORTED, `[${name}]`)));
  return result.imported();
}

/** The time limits of the commands before the start, which systemd counts with the start. */
function withStartTimeout(hooks: Keys, settings: Settings): Keys {
  const usual = settings.get("Type")?.[0] === "oneshot" ? "infinity" : "90s";
  const [given = usual] = settings.get("TimeoutStartSec") ?? settings.get("TimeoutSec") ?? [];
  const timeout = span(isZero(given) ? "infinity" : given);
  const entries = Object.entries(hooks).map(([name, hook]) => [name, { ...mapOf(hook), timeout }]);
  return entries.length === 0 ? {} : { hooks: Object.fromEntries(entries) };
}

function isConverted(key: string): boolean {
  return typeof rowFor(SETTINGS, key) === "function";
}

/** The values that count: all, the last one, or those that name other units than the usual ones. */
function usedValues(key: string, values: Values): Values {
  if (SETTINGS[key] === OTHER_UNIT) {
    return values.flatMap(splitWords).filter((one) => !BOOT.test(one));
  }
  return isConverted(key) && !REPEATED.test(key) ? values.slice(-1) : values;
}

/** The file of a stream: `append:PATH` or `file:PATH`, which is appended to as well. */
function logFileOf(value = ""): string | undefined {
  return /^(?:append|file):(\/.*)$/.exec(value)?.[1];
}

function logsOf(settings: Settings, { folder }: ImportResult): Keys {
  const stdout = logFileOf(settings.get("StandardOutput")?.[0]);
  const [error = "inherit"] = settings.get("StandardError") ?? [];
  // By default standard error goes where standard output goes.
  return logFiles({ stdout, stderr: error === "inherit" ? stdout : logFileOf(error), folder });
}

function lostLog([value]: Values): { readonly lost?: string } {
  const file = logFileOf(value);
  if (file !== undefined) return { lost: logFileProblem(file, "/") };
  return value === "inherit" ? {} : { lost: "each app has its own log files: procsup logs" };
}

function refuse({ file, placeOf }: Unit, settings: Settings): void {
  if (!settings.has("ExecStart")) {
    const place = placeOf(["Service"]);
    throw new ConfigProblem(file, "no ExecStart under [Service]", { place });
  }
  if (settings.get("Type")?.[0] !== "forking") return;
  throw new ConfigProblem(file, "Type=forking: the service goes to the background", {
    place: placeOf(["Service", "Type"]),
    advice: "give ExecStart the option that keeps it in the foreground, and Type=exec",
  });
}

/** Defaults of a service unit. */
const USUAL: Keys = {
  cwd: "/",
  restart_policy: "never",
  stop_timeout: "90s",
  restart_window: "10s",
  max_restarts: 5,
  restart_delay: "100ms",
  backoff_max: "100ms",
  inherit_env: ["PATH", "LANG", "HOME", "USER", "LOGNAME", "SHELL"],
};

function hook(name: string, values: Values): Keys {
  const isRoot = values.every((value) => /^-?[+!]/.test(value));
  return {
    hooks: { [name]: { command: lines(values), ...(isRoot ? { run_as_root: true } : {}) } },
    lost: isRoot ? undefined : lostPrefix(values),
  };
}

function isOn(value = ""): boolean {
  return /^(1|yes|y|true|t|on)$/i.test(value);
}

function lostPrefix(values: Values): string | undefined {
  return values.some((value) => /^-?[@:+!|]/.test(value))
    ? "it runs as the user of the service, like the others"
    : undefined;
}

/** The command; a shell runs it if it contains variables of the service. */
function programOf(starts: readonly string[]): Keys {
  const one = starts.length === 1 ? starts[0]! : "";
  if (one !== "" && !one.includes("$") && !/^[-@:+!]/.test(one)) {
    const [entrypoint, ...args] = splitWords(one);
    return { entrypoint, args };
  }
  return { entrypoint: "/bin/sh", args: ["-c", lines(starts, true)] };
}

/** Joins commands to a shell line. A `-` before a command means that it may fail. */
function lines(commands: readonly string[], exec = false): string {
  return commands.map((command) => {
    const [, prefix, line] = /^([-@:+!|]*)(.*)$/s.exec(command)!;
    const all = splitWords(line!);
    // A separate `;` splits two commands, unless the unit escapes one.
    const isTwo = all.includes(";") && !line!.includes("\\;");
    const text = all.map((word) => isTwo && word === ";" ? "&&" : shellWord(word)).join(" ");
    const optional = `${text} || true`;
    // In a list of commands, `|| true` would also forgive those before it.
    if (prefix!.includes("-")) return commands.length > 1 ? `{ ${optional}; }` : optional;
    return exec && commands.length === 1 && !isTwo ? `exec ${text}` : text;
  }).join(" && ");
}

/**
 * Quotes a word for a shell, keeping systemd's rules for variables: `$NAME` as a whole word is split at
 * whitespace, `${NAME}` is not, and `$$` is a `$`.
 */
function shellWord(word: string): string {
  if (/^\$[A-Za-z_]\w*$|^[\w@%+=:,./-]+$/.test(word)) return word;
  const text = word.replace(
    /\$\{[A-Za-z_]\w*\}|\$\$?|["\\`]/g,
    (part) => part.startsWith("${") ? part : part.startsWith("$") ? "\\$" : `\\${part}`,
  );
  return `"${text}"`;
}

/** Specifiers such as `%n` whose values are known from the file name. */
function specifiersOf(name: string): Readonly<Record<string, string>> {
  const unit = name.replace(/\.service$/, "");
  const [prefix = "", instance = ""] = unit.split("@");
  return {
    n: name,
    N: unit,
    p: prefix,
    ...(instance ? { i: instance, I: instance } : {}),
    "%": "%",
  };
}

function pairs(text: string): [string, string][] {
  return splitWords(text).map((word) => {
    const [key, value = ""] = word.split(/=(.*)/s);
    return [key!, value];
  });
}

/** Whether a value is zero, which means no limit. */
function isZero(value: string): boolean {
  return /^0+(\s*[a-z]+)?$/i.test(value);
}

function isEndless(value: string): boolean {
  return isZero(value) || value === "infinity";
}

function window([value]: Values): Keys {
  return isZero(value!) ? UNLIMITED : { restart_window: span(value!) };
}

function stopTimeout(value: string): Keys {
  return { stop_timeout: span(isZero(value) ? "infinity" : value) };
}

function startTimeout(value: string): Keys {
  return isEndless(value) ? {} : { listen_timeout: span(value) };
}

function limit(name: string, value: string): Keys {
  const first = value.split(":")[0]!;
  if (first === "infinity") return {};
  if (first.endsWith("%")) return { lost: "a share of the machine: write a number into limits" };
  if (isNumber(first)) return { limits: { [name]: Number(first) } };
  // systemd ignores what it cannot read.
  if (!/^\d+(\.\d+)?[KMGTB]+$/.test(first)) return { lost: "not a number: systemd ignores it" };
  return { limits: { [name]: `${first}B`.replace(/BB$/, "B") } };
}
