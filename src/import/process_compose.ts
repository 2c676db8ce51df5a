/** Converts process-compose.yaml. */

import { rowOf } from "../model/key_table.ts";
import { isMap, mapOf, mergePatch } from "../model/merge_patch.ts";
import { literally } from "../model/plain_text.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { isAbsolute, join } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import type { ConfigDocument } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import {
  convertedKeys,
  environment,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type Keys,
  logFileProblem,
  logFiles,
  type Lost,
  lost,
  rowFor,
  seconds,
  texts,
  unknownInside,
  UNLIMITED,
  UNSUPPORTED,
} from "./imported.ts";
import { ImportResult } from "./import_result.ts";
import { hasReference, namesIn, reference, withReferences } from "./references.ts";
import { everyInterval } from "./calendar.ts";
import { needsShell, type Shell, shellLine, shellOf } from "./process_compose_shell.ts";
import { underFiles, UNREAD } from "../config/env_file.ts";

export const processCompose: Importer = {
  matches: ({ kind, value }) =>
    isMap(value) &&
    (kind === "process-compose" || (/^(yaml|compose)$/.test(kind) && looksLike(value))),
  convert,
};

/** Recognizes a file by a key that procsup does not have. */
function looksLike({ processes }: Record<string, unknown>): boolean {
  const all = isMap(processes) ? Object.values(processes).filter(isMap) : [];
  return all.some((process) =>
    Object.keys(process).some((key) => Object.hasOwn(KEYS, key) && !rowOf(PROCESS_KEYS, key))
  );
}

const CONDITIONS: Readonly<Record<string, string>> = {
  process_started: "started",
  process_healthy: "healthy",
  process_completed: "completed",
  process_completed_successfully: "completed_ok",
  process_log_ready: "ready",
};

const RESTART: Readonly<Record<string, string>> = {
  always: "always",
  on_failure: "on-failure",
  no: "never",
  never: "never",
  false: "never",
  exit_on_failure: "never",
};

/** How long process-compose waits for a command or keys that shut down. */
const STOP_SECONDS = 10;

/** Without a limit, process-compose waits for the end of a process and never kills it. */
const ENDLESS = "8760h";

const DOTENV = ".env";

/** What the keys of a process depend on. */
interface ProcessContext {
  readonly process: Record<string, unknown>;
  readonly folder: string;
  readonly processes: Record<string, unknown>;
  readonly common: Record<string, string>;
  /** Variables that commands print. */
  readonly secrets: Keys;
  readonly shell: Shell;
  /** Whether there is a `.env`, which process-compose reads for every process. */
  readonly hasDotenv: boolean;
}

const FILE_KEYS = {
  ...handled(
    "version",
    "name",
    "processes",
    "environment",
    "shell",
    "vars",
    "$schema",
    "is_strict",
  ),
  ...handled("log_level", "log_length", "log_format", "disable_env_expansion", "is_tui_disabled"),
  ...handled("env_cmds"),
};

/** Keys that may have variables; in the others they are filled in at the conversion. */
const REFERRING = new Set([
  ...["command", "entrypoint", "working_dir", "environment", "env_file", "log_location"],
  ...["liveness_probe", "readiness_probe", "shutdown", "description", "vars", "extends"],
]);

const KEYS: ImportTable<unknown, ProcessContext> = {
  ...handled("is_dotenv_disabled", "vars", "description", "disable_ansi_colors", "extends"),
  ...handled("is_template_disabled", "launch_timeout_seconds"),
  command: (value, { shell }) => {
    const command = withReferences(String(value)).trim();
    // What is filled in may need a shell.
    return hasReference(command) || needsShell(command, shell)
      ? { entrypoint: shell.program, args: [shell.argument, command] }
      : { command };
  },
  entrypoint: (value, { process }) => {
    if (process.command !== undefined) return { lost: "command wins" };
    const [entrypoint, ...args] = (Array.isArray(value) ? value : [value])
      .map((word) => withReferences(String(word)));
    return { entrypoint, args };
  },
  working_dir: (value) => ({ cwd: withReferences(String(value)) }),
  environment: (value) => ({ env: environment(value) }),
  env_file: (value, { process: { working_dir } }) => {
    const file = withReferences(String(value));
    const isPlaced = isAbsolute(file) || working_dir === undefined;
    return { env_file: isPlaced ? file : join(withReferences(String(working_dir)), file) };
  },
  success_exit_codes: (value) => ({ success_exit_codes: [0, value].flat().map(Number) }),
  namespace: (value) => {
    const [namespace, ...tags] = Array.isArray(value) ? value : [value];
    return { namespace, tags };
  },
  replicas: (value) => value ? { instances: Number(value) } : {},
  is_tty: (value) => ({ tty: value }),
  is_interactive: (value) => value === true ? { tty: true, stdin: true } : {},
  disabled: (value) => value === true ? { autostart: false } : {},
  is_disabled: (value) => String(value) === "true" ? { autostart: false } : {},
  is_foreground: (value) =>
    value === true
      ? { autostart: false, tty: true, stdin: true, lost: "procsup start, attach" }
      : {},
  ready_log_line: (value) => ({ ready_log: literally(String(value)), wait_ready: true }),
  depends_on: (value, { processes }) => ({ depends_on: dependsOn(value, processes) }),
  availability: (value) => isMap(value) ? availability(value) : {},
  shutdown: (value, { shell }) => isMap(value) ? shutdown(value, shell) : {},
  // The liveness probe wins, because it restarts.
  readiness_probe: (value, { shell, process }) => {
    if ("liveness_probe" in process) {
      return { wait_ready: true, lost: "the liveness probe is used for both" };
    }
    if (!hasTarget(value)) return { lost: NO_TARGET };
    return { wait_ready: true, health_check: { ...probe(value, shell), on_failure: "none" } };
  },
  liveness_probe: (value, { shell }) =>
    hasTarget(value) ? { health_check: probe(value, shell) } : { lost: NO_TARGET },
  schedule: (value) => isMap(value) ? scheduled(value) : {},
  watch: (value, { process: { working_dir = "." } }) =>
    isMap(value) ? watched(value, String(working_dir)) : {},
  log_location: (value, { folder }) => ({ lost: logFileProblem(logFile(value), folder) }),
};

const NO_TARGET = "it has neither exec nor http_get, so it is left out";

function hasTarget(value: unknown): boolean {
  return isMap(value) && (isMap(value.exec) || isMap(value.http_get));
}

/** Paths are relative to the working directory. */
function watched({ paths, debounce = "300ms" }: Record<string, unknown>, folder: string): Keys {
  const list = Array.isArray(paths)
    ? paths.map((one): Keys => isMap(one) ? one : { path: one })
    : [];
  if (list.length === 0) return {};
  const patterns = list.some(({ include }) => include !== undefined);
  return {
    watch: {
      enabled: true,
      paths: list.map(({ path }) => isAbsolute(String(path)) ? path : join(folder, String(path))),
      ignore: list.flatMap(({ exclude }) => exclude ?? []),
      debounce,
    },
    lost: patterns ? "include: every file below the paths is watched" : undefined,
  };
}

function convert(document: ConfigDocument, given: ImportContext): Imported {
  const { file, value } = document;
  if (!isMap(value) || !isMap(value.processes)) {
    const docker = isMap(value) && "services" in value;
    throw new ConfigProblem(file, '"processes" is missing', {
      advice: docker
        ? "it has services: use procsup import compose"
        : "is it a process-compose file?",
    });
  }
  const result = new ImportResult(document, { context: given });
  const run = { critical: [] as string[], exit_on_failure: [] as string[] };
  const { notes } = convertedKeys(FILE_KEYS, Object.entries(value), undefined);
  result.note(undefined, ...notes);
  const context = {
    folder: result.folder,
    processes: value.processes,
    common: environment(value.environment),
    secrets: Object.fromEntries(
      Object.entries(mapOf(value.env_cmds)).map(([name, command]) => [name, { command }]),
    ),
    shell: shellOf(value.shell),
    hasDotenv: lookAt(join(result.folder, DOTENV))?.isFile === true,
  };
  for (const [name, own] of Object.entries(value.processes)) {
    if (!isMap(own)) {
      result.skip(name, ["processes", name], "expected a map");
      continue;
    }
    const whole = extended(name, value.processes);
    const found: Lost[] = [];
    const settled = Object.entries(whole).map(([key, inner]) =>
      [key, REFERRING.has(key) ? inner : result.settled(inner, [key], found)] as const
    );
    const vars = texts({ ...mapOf(value.vars), ...mapOf(whole.vars) });
    const process = withVars(Object.fromEntries(settled), vars);
    const taken = addProcess(name, { ...context, process }, result);
    result.note(taken, ...found);
    const { exit_on_end, restart } = mapOf(process.availability);
    if (exit_on_end === true) run.critical.push(taken);
    if (restart === "exit_on_failure") run.exit_on_failure.push(taken);
  }
  const ending = Object.entries(run).filter(([, names]) => names.length > 0);
  return { ...result.imported(), run: Object.fromEntries(ending) };
}

/** A process with the keys of those that it extends: maps are merged, and lists appended. */
function extended(
  name: string,
  all: Record<string, unknown>,
  trail: readonly string[] = [],
): Record<string, unknown> {
  const own = mapOf(all[name]);
  const base = own.extends;
  if (typeof base !== "string" || !isMap(all[base]) || trail.includes(base)) return { ...own };
  const under = extended(base, all, [...trail, name]);
  const merged = mergePatch(under, own) as Record<string, unknown>;
  for (const [key, value] of Object.entries(own)) {
    const before = under[key];
    if (Array.isArray(value) && Array.isArray(before)) merged[key] = [...before, ...value];
  }
  return merged;
}

/** The value with its variables of templates filled in: `{{.NAME}}`. */
function withVars<T>(value: T, vars: Readonly<Record<string, string>>): T {
  const filled = (inner: unknown): unknown => {
    if (typeof inner === "string") {
      const fill = (whole: string, name: string) => rowFor(vars, name) ?? whole;
      return inner.replace(/\{\{\s*\.(\w+)\s*\}\}/g, fill);
    }
    if (Array.isArray(inner)) return inner.map(filled);
    if (!isMap(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, filled(item)]));
  };
  return filled(value) as T;
}

function addProcess(name: string, context: ProcessContext, result: ImportResult): string {
  const { process, common, secrets, hasDotenv, folder } = context;
  const { keys, notes, origins } = convertedKeys(KEYS, Object.entries(process), context);
  const notesOf: (string | Lost)[] = [
    ...notes,
    ...unknownInside(process, INNER),
    ...unscheduled(process.schedule),
  ];
  const own = [keys.env_file ?? []].flat() as string[];
  // A file wins over the variables of the whole configuration.
  const { env, unread } = underFiles(common, own, folder);
  notesOf.push(...unread.map((path) => lost("env_file", UNREAD, `env_file ${path}`)));
  const all: Keys = mergePatch(
    { restart_policy: "never", stop_timeout: ENDLESS, env, secrets },
    keys,
  );
  if (all.cron !== undefined && all.restart_policy === "always") {
    all.restart_policy = "never";
    notesOf.push(lost(["availability", "restart"], "a job ends between its runs"));
  }
  if (hasDotenv && process.is_dotenv_disabled !== true) all.env_file = [DOTENV, ...own];
  if (process.is_template_disabled !== true && /\{\{/.test(JSON.stringify(process))) {
    notesOf.push("{{…}}: only variables in vars are filled in");
  }
  const number = numberOfReplica(all, process);
  // One file for both streams; instances cannot share it.
  const file = logFile(process.log_location);
  const suffix = (all.instances ?? 1) === 1 ? "" : "-{instance}";
  const logs = logFiles({ stdout: file, stderr: file, folder, suffix });
  // The commands of probes run in the environment of the app.
  const inCommands = commandsOf(process).flatMap((text) => namesIn(withReferences(text)));
  const referred = Object.fromEntries(inCommands.map((one) => [one, reference(one, "")]));
  const made = { ...all, ...number, ...logs };
  const keysOfAll = { ...made, env: { ...referred, ...mapOf(all.env), ...mapOf(number.env) } };
  const from = { path: ["processes", name], keys: origins };
  const taken = result.add(name, keysOfAll, from);
  result.note(taken, ...notesOf);
  return taken;
}

const REPLICA = "PC_REPLICA_NUM";

/** process-compose numbers the replicas in a variable, from 0. */
function numberOfReplica({ env, instances = 1 }: Keys, process: Record<string, unknown>): Keys {
  if (instances === 1 && !JSON.stringify(process).includes(REPLICA)) return {};
  return { env: { ...mapOf(env), [REPLICA]: "0" }, increment_env: REPLICA };
}

/** The commands of probes and of the shutdown. */
function commandsOf({ liveness_probe, readiness_probe, shutdown }: Record<string, unknown>) {
  const probes = [liveness_probe, readiness_probe].map((one) => mapOf(mapOf(one).exec).command);
  return [...probes, mapOf(shutdown).command].filter((text) => typeof text === "string");
}

function logFile(value: unknown): unknown {
  return typeof value === "string" ? withReferences(value) : value;
}

/** Keys inside of the keys of a process that are converted. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  ...innerOfProbe("readiness_probe"),
  ...innerOfProbe("liveness_probe"),
  availability: ["restart", "backoff_seconds", "max_restarts", "exit_on_end"],
  shutdown: ["signal", "timeout_seconds", "command", "parent_only"],
  watch: ["paths", "debounce"],
  schedule: ["cron", "interval", "timezone", "run_on_start", "max_concurrent"],
};

function innerOfProbe(probe: string): Record<string, readonly string[]> {
  return {
    [probe]: ["http_get", "exec", "initial_delay_seconds", "period_seconds"]
      .concat("timeout_seconds", "success_threshold", "failure_threshold"),
    [`${probe}.http_get`]: ["scheme", "host", "port", "num_port", "path", "status_code"],
    [`${probe}.exec`]: ["command"],
  };
}

function availability(value: Record<string, unknown>): Keys {
  const { restart = "no", backoff_seconds, max_restarts } = value;
  const policy = rowFor(RESTART, String(restart)) ?? String(restart);
  if (policy === "never") return { restart_policy: policy };
  const delay = seconds(backoff_seconds ?? 1);
  return {
    restart_policy: policy,
    restart_delay: delay,
    backoff_max: delay,
    ...(max_restarts ? { max_restarts } : UNLIMITED),
  };
}

function shutdown(
  { signal, timeout_seconds, command, parent_only }: Record<string, unknown>,
  shell: Shell,
): Keys {
  const usual = command === undefined ? ENDLESS : seconds(STOP_SECONDS);
  return {
    stop_signal: signal || undefined,
    // The rest is killed with it only when the time is up.
    stop_mode: parent_only === true ? "leave" : undefined,
    stop_timeout: timeout_seconds ? seconds(timeout_seconds) : usual,
    hooks: command === undefined ? undefined : { pre_stop: shellLine(command, shell) },
  };
}

function scheduled({ cron, interval, timezone }: Record<string, unknown>): Keys {
  const schedule = cron || everyInterval(interval);
  return schedule === undefined ? {} : { cron: { schedule, timezone } };
}

/** Notes on the parts of a schedule that have no counterpart. */
function unscheduled(value: unknown): string[] {
  if (!isMap(value)) return [];
  const { cron, interval, run_on_start, max_concurrent = 1 } = value;
  const lost = {
    interval: !cron && everyInterval(interval) === undefined,
    run_on_start: run_on_start === true,
    max_concurrent: Number(max_concurrent) > 1,
  };
  return Object.entries(lost).filter(([, isLost]) => isLost)
    .map(([key]) => `schedule.${key}: ${UNSUPPORTED}`);
}

function dependsOn(value: unknown, all: Record<string, unknown>): Keys {
  return Object.fromEntries(
    Object.entries(mapOf(value)).map(([name, how]) => {
      const condition = String(mapOf(how).condition ?? "process_completed");
      const target = all[name];
      const probed = isMap(target) && ("readiness_probe" in target || "liveness_probe" in target);
      const wanted = rowFor(CONDITIONS, condition) ?? condition;
      return [name, wanted === "healthy" && !probed ? "ready" : wanted];
    }),
  );
}

/** Converts a probe to a health check. In process-compose, values below 1 mean the default. */
function probe(value: unknown, shell: Shell): Keys {
  if (!isMap(value)) return {};
  const orDefault = (key: string, otherwise: number) => {
    const given = value[key] ?? otherwise;
    return Number(given) < 1 ? otherwise : given;
  };
  return {
    ...target(value, shell),
    interval: seconds(orDefault("period_seconds", 10)),
    timeout: seconds(orDefault("timeout_seconds", 1)),
    grace_period: seconds(value.initial_delay_seconds),
    retries: orDefault("failure_threshold", 3),
    success_threshold: orDefault("success_threshold", 1),
  };
}

function target({ http_get, exec }: Record<string, unknown>, shell: Shell): Keys {
  if (isMap(exec)) return { type: "command", command: shellLine(exec.command, shell) };
  if (!isMap(http_get)) return {};
  const { scheme = "http", host = "127.0.0.1", num_port, path = "/", status_code } = http_get;
  const port = num_port || http_get.port;
  const at = port === undefined || port === "" ? host : `${host}:${port}`;
  const url = `${scheme}://${at}/${String(path).replace(/^\//, "")}`;
  const expect = status_code === undefined ? {} : { expect: { status: Number(status_code) } };
  return { type: "http", url: withReferences(url), ...expect };
}
