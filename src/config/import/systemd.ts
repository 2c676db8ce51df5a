/** Converts service units of systemd. */

import { mergePatch } from "../../model/merge_patch.ts";
import { nameFromPath } from "../../model/name.ts";
import { splitWords } from "../../model/shell_line.ts";
import { basename } from "../../npm/path.js";
import type { ConfigDocument } from "../document.ts";
import { underFiles, UNREAD } from "../env_file.ts";
import { ConfigProblem } from "../problem.ts";
import {
  type Imported,
  type Importer,
  ImportResult,
  type Keys,
  logFileProblem,
  logFiles,
  UNLIMITED,
} from "./imported.ts";

export const systemd: Importer = {
  name: "systemd",
  matches: ({ kind }) => kind === "systemd",
  convert,
};

type Settings = ReadonlyMap<string, readonly string[]>;

/** Converters by setting of [Service]. They receive all values of a setting that may be repeated. */
const KEYS: Readonly<Record<string, (values: readonly string[]) => Keys>> = {
  WorkingDirectory: ([value]) => value!.startsWith("~") ? {} : { cwd: value!.replace(/^-/, "") },
  User: ([value]) => ({ uid: value }),
  Group: ([value]) => ({ gid: value }),
  UMask: ([value]) => ({ umask: value!.padStart(3, "0") }),
  Nice: ([value]) => ({ nice: Number(value) }),
  Environment: (values) => ({ env: Object.fromEntries(values.flatMap(pairs)) }),
  EnvironmentFile: (values) => ({ env_file: values.filter((value) => !value.startsWith("-")) }),
  Restart: ([value]) => ({ restart_policy: RESTART[value!] ?? value }),
  RestartSec: ([value]) => ({ restart_delay: span(value!), backoff_max: span(value!) }),
  StartLimitBurst: ([value]) => isZero(value) ? {} : { max_restarts: Number(value) },
  StartLimitInterval: ([value]) => window(value!),
  StartLimitIntervalSec: ([value]) => window(value!),
  SuccessExitStatus: (values) => ({
    success_exit_codes: [0, ...values.flatMap((value) => value.split(/\s+/)).filter(isNumber)]
      .map(Number),
  }),
  KillSignal: ([value]) => isRealTime(value!) ? {} : { stop_signal: value },
  TimeoutStopSec: ([value]) => stopTimeout(value!),
  TimeoutStartSec: ([value]) => startTimeout(value!),
  TimeoutSec: ([value]) => ({ ...startTimeout(value!), ...stopTimeout(value!) }),
  RuntimeMaxSec: ([value]) => isEndless(value!) ? {} : { max_age: span(value!) },
  ExecStartPre: (values) => ({ hooks: { pre_start: lines(values) } }),
  ExecStartPost: (values) => ({ hooks: { post_start: lines(values) } }),
  ExecStopPost: (values) => ({ hooks: { post_stop: lines(values) } }),
  LimitNOFILE: ([value]) => limit("nofile", value!),
  LimitNPROC: ([value]) => limit("nproc", value!),
  LimitCORE: ([value]) => limit("core", value!),
  LimitAS: ([value]) => limit("address_space", value!),
  LimitFSIZE: ([value]) => limit("file_size", value!),
  MemoryMax: ([value]) => limit("memory", value!),
  MemoryLimit: ([value]) => limit("memory", value!),
  TasksMax: ([value]) => limit("pids", value!),
  CPUQuota: ([value]) => limit("cpu_percent", value!.replace("%", "")),
};

/** Settings that may be repeated; of the others systemd uses the last value. */
const REPEATED = /^(Exec\w+|Environment|EnvironmentFile|SuccessExitStatus)$/;

/** Settings without a converter, of which the last value counts. */
const ONE = new Set(["Type", "StandardOutput", "StandardError"]);

/** Settings that match procsup's behavior, or are handled elsewhere. */
const NATURAL = new Set(["ExecStart", "Type", "ExecReload", "SyslogIdentifier", "NotifyAccess"]);

const RESTART: Readonly<Record<string, string>> = {
  "no": "never",
  "always": "always",
  "on-failure": "on-failure",
  "on-abnormal": "on-failure",
  "on-abort": "on-failure",
  "on-watchdog": "on-failure",
};

/** Units that are up before any service of procsup. */
const BOOT =
  /^(network(-online|-pre)?|multi-user|basic|sysinit|local-fs|remote-fs|syslog|default|nss-lookup|time-sync)\.target$/;

const INSTEAD: Readonly<Record<string, string>> = {
  ExecStop: "stop_signal, or hooks.pre_stop",
  KillMode: "the whole process group is stopped",
  StandardOutput: "each app has its own log files: procsup logs",
  StandardError: "each app has its own log files: procsup logs",
  WatchdogSec: "health_check",
  EnvironmentFile: "a file that may be missing (-): env_file must exist",
  Restart: "on-failure is the nearest",
};

interface UnitVariables {
  readonly env?: Record<string, string>;
  readonly env_file?: readonly string[];
}

function convert({ file, text }: ConfigDocument): Imported {
  const sections = read(file, text);
  const settings: Settings = new Map(
    [...sections.get("Unit") ?? [], ...sections.get("Service") ?? []].map(([key, values]) => {
      const isOne = (Object.hasOwn(KEYS, key) || ONE.has(key)) && !REPEATED.test(key);
      const taken = isOne ? values.slice(-1) : values;
      return [key, taken.map((value) => fill(value, specifiersOf(basename(file))))];
    }),
  );
  refuse(file, settings);
  const result = new ImportResult(file);
  const name = nameFromPath(basename(file).replace(/@?\.service$/, ""));
  const keys = keysOf(settings) as Keys & UnitVariables;
  const { env, unread } = underFiles(keys.env ?? {}, keys.env_file ?? [], "/");
  const taken = result.add(name, { ...keys, env, ...logsOf(settings, result) });
  for (const path of unread) result.note(taken, `EnvironmentFile=${path}: ${UNREAD}`);
  for (const [key, values] of settings) {
    for (const text of lostOf(key, values)) result.note(taken, text);
  }
  for (const [key, values] of sections.get("Install") ?? []) {
    if (key !== "WantedBy") result.note(taken, `[Install] ${key}=${values.join(" ")}`);
  }
  for (const other of sections.keys()) {
    if (["Unit", "Service", "Install"].includes(other)) continue;
    result.note(undefined, `[${other}]: not converted`);
  }
  return result.imported();
}

/** The file of a stream: `append:PATH` or `file:PATH`, which is appended to as well. */
function logFileOf(settings: Settings, key: string): string | undefined {
  return /^(?:append|file):(\/.*)$/.exec(settings.get(key)?.[0] ?? "")?.[1];
}

function logsOf(settings: Settings, { folder }: ImportResult): Keys {
  const stdout = logFileOf(settings, "StandardOutput");
  const error = settings.get("StandardError")?.[0] ?? "inherit";
  // By default standard error goes where standard output goes.
  const stderr = error === "inherit" ? stdout : logFileOf(settings, "StandardError");
  return logFiles({ stdout, stderr, folder });
}

function refuse(file: string, settings: Settings): void {
  if ((settings.get("ExecStart") ?? []).length === 0) {
    throw new ConfigProblem(file, "no ExecStart under [Service]");
  }
  if (settings.get("Type")?.[0] !== "forking") return;
  throw new ConfigProblem(file, "Type=forking: the service goes to the background", {
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

function keysOf(settings: Settings): Keys {
  let keys: Keys = { ...USUAL };
  for (const [key, values] of settings) {
    if (Object.hasOwn(KEYS, key) && values.length > 0) keys = mergePatch(keys, KEYS[key]!(values));
  }
  if (isZero(settings.get("StartLimitBurst")?.[0])) Object.assign(keys, UNLIMITED);
  const signal = reloadSignal(settings.get("ExecReload")?.[0] ?? "");
  if (signal !== undefined) keys.reload_signal = signal;
  const ends = settings.get("Type")?.[0] === "oneshot" ? { min_uptime: "0s" } : {};
  return { ...keys, ...ends, ...programOf(settings.get("ExecStart")!) };
}

/** The signal in a `kill` command for the service itself. */
function reloadSignal(command: string): string | undefined {
  const [, signal] = /kill\s+-(?:s\s+)?(\w+)\s+\$\{?MAINPID/.exec(command) ?? [];
  return signal?.replace(/^(?!SIG|\d)/, "SIG");
}

/** Notes on a setting that is not, or not fully, converted. */
function lostOf(key: string, values: readonly string[]): string[] {
  const say = (
    why = INSTEAD[key],
  ) => [`${key}=${values.join(" ")}: ${why || "not supported by procsup"}`];
  if (["Description", "Documentation"].includes(key)) return [];
  const [left] = /%[a-zA-Z]/.exec(values.join(" ")) ?? [];
  if (left !== undefined) return [`${key}: ${left} is not filled in`];
  if (key === "Type" && ["notify", "notify-reload", "dbus"].includes(values[0]!)) {
    return say("ready by READY=1 in PROCSUP_READY_FILE, or by a health_check");
  }
  if (key === "ExecReload") {
    return reloadSignal(values[0] ?? "") === undefined ? say("reload_signal, or a hook") : [];
  }
  if (["After", "Wants", "Requires", "BindsTo", "PartOf", "Before"].includes(key)) {
    const units = values.flatMap((value) => value.split(/\s+/)).filter((one) => !BOOT.test(one));
    return units.length === 0 ? [] : [`${key}=${units.join(" ")}: depends_on, if it runs here too`];
  }
  const prefixed = values.find((value) => /^-?[@:+!|]/.test(value));
  if (key.startsWith("Exec") && prefixed !== undefined) {
    return [`${key}=${prefixed}: it runs as the user of the service, like the others`];
  }
  if (key === "EnvironmentFile") return values.some((value) => value.startsWith("-")) ? say() : [];
  if (key === "Restart") return /^on-(ab|watch)/.test(values[0] ?? "") ? say() : [];
  if (key === "KillSignal") return isRealTime(values[0] ?? "") ? say() : [];
  if (key === "WorkingDirectory") return values[0]?.startsWith("~") ? say() : [];
  if (key === "SuccessExitStatus") {
    return values.join(" ").split(/\s+/).every(isNumber) ? [] : say("exit codes only");
  }
  if (/^(Limit|Memory|Tasks)/.test(key) && values[0] === "infinity") return [];
  if (/^(Memory|Tasks)/.test(key) && SHARE.test(values[0] ?? "")) {
    return say("a share of the machine: write a number into limits");
  }
  const file = /^Standard(Output|Error)$/.test(key) && logFileOf(new Map([[key, values]]), key);
  if (file) {
    const problem = logFileProblem(file, "/");
    return problem === undefined ? [] : [`${key}=${values[0]}: ${problem}`];
  }
  return Object.hasOwn(KEYS, key) || NATURAL.has(key) ? [] : say();
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

/** Parses sections with all values of their settings. An empty value discards those before it. */
function read(file: string, text: string): Map<string, Map<string, string[]>> {
  const sections = new Map<string, Map<string, string[]>>();
  let section: Map<string, string[]> | undefined;
  for (const raw of text.replace(/\\\r?\n([#;].*\r?\n)*/g, " ").split(/\r?\n/)) {
    const line = raw.trim();
    if (line === "" || /^[#;]/.test(line)) continue;
    const [, header] = /^\[(.+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (header !== undefined) {
      section = sections.get(header) ?? new Map<string, string[]>();
      sections.set(header, section);
    } else if (key !== undefined && section !== undefined) {
      section.set(key, value === "" ? [] : [...section.get(key) ?? [], value!]);
    } else {
      throw new ConfigProblem(file, `not a unit file: ${JSON.stringify(line.slice(0, 40))}`);
    }
  }
  return sections;
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

function fill(text: string, specifiers: Readonly<Record<string, string>>): string {
  return text.replace(/%(.)/g, (whole, letter: string) => specifiers[letter] ?? whole);
}

function pairs(text: string): [string, string][] {
  return splitWords(text).map((word) => {
    const [key, value = ""] = word.split(/=(.*)/s);
    return [key!, value];
  });
}

/** Whether a value is zero, which means no limit. */
function isZero(value: string | undefined): boolean {
  return value !== undefined && /^0+(\s*[a-z]+)?$/i.test(value);
}

function isEndless(value: string): boolean {
  return isZero(value) || value === "infinity";
}

function isRealTime(signal: string): boolean {
  return /^(SIG)?RT/.test(signal);
}

function window(value: string): Keys {
  return isZero(value) ? UNLIMITED : { restart_window: span(value) };
}

function stopTimeout(value: string): Keys {
  return { stop_timeout: span(isZero(value) ? "infinity" : value) };
}

function startTimeout(value: string): Keys {
  return isEndless(value) ? {} : { listen_timeout: span(value) };
}

/** Units of systemd's time spans as units of durations, with a factor. */
const UNITS: Readonly<Record<string, readonly [factor: number, unit: string]>> = {
  ...{ us: [1, "us"], usec: [1, "us"], ms: [1, "ms"], msec: [1, "ms"] },
  ...{ s: [1, "s"], sec: [1, "s"], second: [1, "s"], m: [1, "m"], min: [1, "m"], minute: [1, "m"] },
  ...{ h: [1, "h"], hr: [1, "h"], hour: [1, "h"], d: [24, "h"], day: [24, "h"] },
  ...{ w: [168, "h"], week: [168, "h"], M: [730.56, "h"], month: [730.56, "h"] },
  ...{ y: [8766, "h"], year: [8766, "h"] },
};

/** A time span of systemd; without a unit it is in seconds. */
function span(text: string): string {
  if (isNumber(text)) return `${text}s`;
  if (text === "infinity") return "8760h";
  return text.replace(/\s+/g, "").replace(/([\d.]+)([A-Za-z]+|$)/g, (whole, count, word) => {
    if (word === "") return `${count}s`;
    const [factor, unit] = UNITS[word] ?? UNITS[word.replace(/s$/, "")] ?? [];
    return factor === undefined ? whole : `${Number(count) * factor}${unit}`;
  });
}

/** A share of the machine's memory or tasks. */
const SHARE = /%$/;

function limit(name: string, value: string): Keys {
  const first = value.split(":")[0]!;
  if (first === "infinity" || SHARE.test(first)) return {};
  return { limits: { [name]: isNumber(first) ? Number(first) : `${first}B`.replace(/BB$/, "B") } };
}

function isNumber(text: unknown): boolean {
  return /^\d+(\.\d+)?$/.test(String(text));
}
