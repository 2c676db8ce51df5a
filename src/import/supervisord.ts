/** Converts supervisord's ini files: programs, groups, included files and `%(…)s`. */

import type { ConfigDocument } from "../config/document.ts";
import {
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type KeyOrigins,
  type Keys,
  logFiles,
  type Lost,
  lost,
  lostLog,
  rowFor,
  seconds,
  UNLIMITED,
  UNSUPPORTED,
} from "./imported.ts";
import { fixed, ImportResult } from "./import_result.ts";
import { filesMatching } from "./file_patterns.ts";
import { emptyIni, isTrue } from "./ini.ts";
import { filled, reference } from "./references.ts";
import { mergePatch } from "../model/merge_patch.ts";
import { nameFromPath, nameProblem } from "../model/name.ts";
import { splitWords } from "../model/shell_line.ts";
import { ConfigProblem } from "../config/problem.ts";
import { readText } from "../config/read_document.ts";
import { dirname, resolve } from "@std/path";

export const supervisord: Importer = {
  matches: ({ kind }) => kind === "supervisord",
  convert,
};

/** Sections about access to supervisord. */
const PLUMBING = /^(supervisorctl|unix_http_server|rpcinterface:.*)$/;

/** Alternatives for sections, by the start of their names. */
const SECTIONS: Readonly<Record<string, string>> = {
  inet_http_server: "web, with listen; tokens for others by procsup token create",
  eventlistener: "webhooks report crashes and more, procsup events everything",
  "fcgi-program": "a process with sockets",
};

/** Keys of [supervisord]. Those of its own log and pid files have no meaning without it. */
const OWN_KEYS: ImportTable<string, undefined> = {
  ...handled("user", "umask", "directory", "environment", "nodaemon", "silent", "identifier"),
  ...handled("logfile", "logfile_maxbytes", "logfile_backups", "loglevel", "pidfile"),
  ...handled("childlogdir", "nocleanup", "strip_ansi"),
  minfds: "limits.nofile of each process",
  minprocs: "limits.nproc of each process",
};

/** Defaults of supervisord. */
const RETRIES = 3;
const START_SECONDS = 1;
const PRIORITY = 999;

/** Above this, one process with many instances is created, which validation then refuses. */
const MAX_COUNTED = 1024;

interface ProgramContext {
  readonly folder: string;
  /** Whether a stream goes to a file of its own. */
  readonly hasLog: boolean;
  /** Whether a setting of both logs has one value. */
  readonly same: (setting: string) => boolean;
}

const KEYS: ImportTable<string, ProgramContext> = {
  // `procsup logs` shows both streams in the order of time.
  ...handled("stopasgroup", "killasgroup", "redirect_stderr"),
  ...handled("numprocs", "numprocs_start", "process_name", "startsecs", "autorestart"),
  startretries: (value) =>
    value === "0" ? { lost: "0 becomes 1, since max_restarts counts later crashes, too" } : {},
  command: (value) => {
    const [entrypoint, ...args] = splitWords(value);
    return { entrypoint, args };
  },
  directory: (value) => ({ cwd: value }),
  environment: (value) => ({ env: environment(value) }),
  user: (value) => ({ uid: value }),
  umask: (value) => ({ umask: value.padStart(3, "0") }),
  priority: (value) => ({ priority: Number(value) }),
  autostart: (value) => isTrue(value) ? {} : { autostart: false },
  exitcodes: (value) => ({ success_exit_codes: value.split(",").map(Number) }),
  stopsignal: (value) => ({ stop_signal: value.replace(/^(?!SIG|\d)/i, "SIG") }),
  stopwaitsecs: (value) => ({ stop_timeout: seconds(value) }),
  stdout_logfile: lostLog,
  stderr_logfile: lostLog,
  stdout_logfile_maxbytes: (value, { hasLog }) => {
    if (value !== "0") return { log: { max_size: value } };
    // Programs that write to /dev/stdout have it, too: nothing is lost there.
    return hasLog ? { lost: "every log is rotated, at log.max_size" } : {};
  },
  stdout_logfile_backups: (value) => ({ log: { max_files: Number(value) } }),
  stderr_logfile_maxbytes: (value, { hasLog, same }) =>
    same("maxbytes") || (value === "0" && !hasLog)
      ? {}
      : { lost: "log.max_size holds for each of both streams" },
  stderr_logfile_backups: (_, { same }) =>
    same("backups") ? {} : { lost: "log.max_files holds for each of both streams" },
  serverurl: "the app finds the daemon by PROCSUP_HOME",
};

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { sections, unmatched, placeOf } = readSections(document);
  const result = new ImportResult(document, { context, placeOf });
  for (const pattern of unmatched) {
    result.note(undefined, lost(["include", "files"], "no such file", `[include] ${pattern}`));
  }
  const groups = new Map<string, string>();
  for (const [name, keys] of sections) {
    const [, group] = /^group:(.+)$/.exec(name) ?? [];
    if (group === undefined) continue;
    for (const program of (keys.get("programs") ?? "").split(",")) {
      groups.set(program.trim(), group);
    }
    for (const key of keys.keys()) {
      if (key === "programs") continue;
      const why = key === "priority" ? "give it to each process" : UNSUPPORTED;
      result.note(undefined, lost([name, key], why, `[${name}] ${key}`));
    }
  }
  const itself = sections.get("supervisord") ?? new Map<string, string>();
  const ordered = sections.entries().some(([name, keys]) =>
    isProgram(name) && keys.has("priority")
  );
  for (const [section, keys] of sections) {
    const [kind, name = ""] = section.split(/:(.*)/s) as [string, string?];
    if (isProgram(section)) {
      addProgram(keys, result, { name, section, group: groups.get(name), itself, ordered });
    } else if (kind === "supervisord") {
      const { notes } = convertedKeys(OWN_KEYS, keys, undefined);
      const moved = notes.map(({ path, text }) => lost([section, ...path], text, `[${section}]`));
      result.note(undefined, ...moved);
    } else if (!/^(group|include)$/.test(kind) && !PLUMBING.test(section)) {
      const why = rowFor(SECTIONS, kind) ?? UNSUPPORTED;
      result.note(undefined, lost([section], why, `[${section}]`));
    }
  }
  return result.imported();
}

function isProgram(section: string): boolean {
  return /^program:./s.test(section);
}

interface Program {
  readonly name: string;
  readonly section: string;
  readonly group: string | undefined;
  /** The section of supervisord itself. */
  readonly itself: ReadonlyMap<string, string>;
  /** Whether any program has a priority; if so, programs without one start last. */
  readonly ordered: boolean;
}

function addProgram(
  keys: ReadonlyMap<string, string>,
  result: ImportResult,
  program: Program,
): void {
  const count = Number(keys.get("numprocs") ?? 1);
  const first = Number(keys.get("numprocs_start") ?? 0);
  const counted = [...keys].some(([key, value]) =>
    !/^process_name$|_logfile$/.test(key) && Object.hasOwn(KEYS, key) &&
    value.includes("%(process_num)")
  );
  if (count > 1 && count <= MAX_COUNTED && counted) {
    // Each instance has its own command line, so each becomes a process.
    const naming = keys.get("process_name") ?? "%(program_name)s_%(process_num)02d";
    for (let number = first; number < first + count; number++) {
      addOne(keys, result, program, expander(program, number)(naming), number);
    }
    return;
  }
  const name = addOne(keys, result, program, program.name, first);
  if (count > 1) result.processes[name]!.instances = count;
}

function addOne(
  keys: ReadonlyMap<string, string>,
  result: ImportResult,
  program: Program,
  name: string,
  number: number,
): string {
  const expand = expander(program, number);
  const isSplit = name !== program.name;
  const files = [...keys].filter(([key]) => /_logfile$/.test(key));
  const differ = isSplit && files.every(([, value]) => value.includes("%(process_num)"));
  const suffix = differ || Number(keys.get("numprocs") ?? 1) === 1
    ? ""
    : isSplit
    ? "-{name}"
    : "-{instance}";
  const { folder } = result;
  const found: Lost[] = [];
  const settled = (key: string, value: string) => {
    const text = expand(value);
    const plain = REFERRING.test(key) ? text : filled(text, result.variable) ?? "";
    if (plain !== text) found.push(lost(key, fixed(plain), `${key} ${value}`));
    return [key, plain] as const;
  };
  const values = new Map([...keys].map(([key, value]) => settled(key, value)));
  const stdout = values.get("stdout_logfile");
  const stderr = isTrue(values.get("redirect_stderr")) ? stdout : values.get("stderr_logfile");
  const logs = logFiles({ stdout, stderr, folder, suffix });
  const hasLog = logs.log !== undefined;
  const same = (setting: string) =>
    values.get(`stdout_logfile_${setting}`) === values.get(`stderr_logfile_${setting}`);
  const { keys: own, notes, origins } = convertedKeys(KEYS, values, { folder, hasLog, same });
  const group = program.group ?? (isSplit ? program.name : undefined);
  const namespace = group && nameProblem(group) !== undefined ? nameFromPath(group) : group;
  const common = {
    stop_timeout: "10s",
    stop_mode: stopMode(values),
    ...inherited(program.itself, values),
    ...restarts(values),
    priority: program.ordered ? PRIORITY : undefined,
    env: environment(expand(program.itself.get("environment") ?? "")),
    ...{ ...logs, namespace },
  };
  const from = { path: [program.section], keys: { ...ORIGINS, ...origins } };
  const taken = result.add(name, mergePatch(common, own), from);
  if (namespace !== group) {
    result.note(taken, `group: "${group}" became the namespace "${namespace}"`);
  }
  result.note(taken, ...notes, ...found);
  return taken;
}

/** Keys that take variables. */
const REFERRING = /^(command|directory|environment|.*_logfile)$/;

/** Keys that several of ours come from. */
const ORIGINS: KeyOrigins = {
  ...{ restart_policy: "autorestart", max_restarts: "startretries", restart_window: "startsecs" },
  ...{ min_uptime: "startsecs", instances: "numprocs", stop_mode: "stopasgroup" },
};

/** What a program has from supervisord itself. */
function inherited(itself: ReadonlyMap<string, string>, own: ReadonlyMap<string, string>): Keys {
  const keys = INHERITED.filter((key) => itself.has(key) && !own.has(key));
  const values = keys.map((key) => [key, itself.get(key)!] as const);
  return convertedKeys(KEYS, values, { folder: "/", hasLog: false, same: () => true }).keys;
}

/** Without `stopasgroup` supervisord signals the main process, and without `killasgroup` only that. */
function stopMode(values: ReadonlyMap<string, string>): string {
  if (isTrue(values.get("stopasgroup"))) return "group";
  return isTrue(values.get("killasgroup")) ? "main" : "leave";
}

/**
 * supervisord gives up after `startretries` short runs in a row, and never after a longer run. So
 * the window is the longest time of these runs. With `startsecs=0` no run is short. Each delay is
 * one second longer than the last.
 */
function restarts(values: ReadonlyMap<string, string>): Keys {
  const said = (key: string, otherwise: number) => values.get(key) ?? String(otherwise);
  const uptime = said("startsecs", START_SECONDS);
  // Without any restart, a crash long after the start would not be followed by one either.
  const retries = Math.max(1, Number(said("startretries", RETRIES)));
  const when = (values.get("autorestart") ?? "unexpected").toLowerCase();
  const policy = when === "unexpected" ? "on-failure" : isTrue(when) ? "always" : "never";
  const window = retries * Number(uptime);
  const limit = window > 0
    ? { max_restarts: retries, restart_window: `${window}s`, backoff_max: `${retries}s` }
    : Number(uptime) === 0
    ? UNLIMITED
    : {};
  return {
    min_uptime: seconds(uptime),
    restart_policy: policy,
    ...(policy === "never" ? {} : limit),
  };
}

/** Returns a function that expands `%(…)s` and `%(…)02d`. */
function expander(program: Program, number: number): (text: string) => string {
  const known: Readonly<Record<string, string>> = {
    program_name: program.name,
    group_name: program.group ?? program.name,
    process_num: String(number),
    host_node_name: Deno.hostname(),
  };
  return (text) =>
    text.replace(
      /%%|%\((\w+)\)(0?)(\d{0,3})([sd])/g,
      (whole, name?: string, zero = "", width = "") => {
        if (name === undefined) return "%";
        if (name.startsWith("ENV_")) return reference(name.slice(4));
        const value = rowFor(known, name);
        return value?.padStart(Number(width), zero === "0" ? "0" : " ") ?? whole;
      },
    );
}

/** `KEY="value",KEY2=value` as a map. */
function environment(text: string): Record<string, string> {
  const pairs = text.matchAll(/(?<![\w.-])([\w.-]+)\s*=\s*("[^"]*"|'[^']*'|[^,]*)/g);
  return Object.fromEntries(
    [...pairs].map(([, key, value]) => [key, value!.trim().replace(/^(["'])(.*)\1$/s, "$2")]),
  );
}

/** Keys of [supervisord] that its programs inherit. */
const INHERITED: readonly string[] = ["user", "umask", "directory"];

/** The sections of a file and of those that it includes. Throws `ConfigProblem`. */
function readSections({ file, text }: ConfigDocument) {
  const ini = emptyIni();
  ini.add(file, text);
  const { sections } = ini;
  const patterns = (sections.get("include")?.get("files") ?? "").split(/\s+/).filter(Boolean);
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const files = filesMatching(resolve(dirname(file), pattern));
    if (files.length === 0) unmatched.push(pattern);
    for (const included of files) ini.add(included, readText(included));
  }
  if (sections.keys().some(isProgram)) return { ...ini, unmatched };
  const none = unmatched.length === 0 ? "" : `, and nothing matches ${unmatched.join(" ")}`;
  const other = sections.keys().some((name) => /^(watcher|circus)\b/.test(name));
  throw new ConfigProblem(file, `no [program:…] section${none}`, {
    advice: other ? "it is a circus file: procsup import circus" : undefined,
  });
}
