/** Converts process-compose.yaml. */

import { rowOf } from "../../model/key_table.ts";
import { isMap, mapOf, mergePatch } from "../../model/merge_patch.ts";
import { literally } from "../../model/plain_text.ts";
import { PROCESS_KEYS } from "../../model/process_keys.ts";
import { shellWord } from "../../model/shell_line.ts";
import { join } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import type { ConfigDocument } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import {
  convertedKeys,
  environment,
  handled,
  type Imported,
  type Importer,
  ImportResult,
  type ImportTable,
  type Keys,
  logFileProblem,
  logFiles,
  rowFor,
  seconds,
  texts,
  unknownInside,
  UNLIMITED,
  UNSUPPORTED,
  withReferences,
} from "./imported.ts";

export const processCompose: Importer = {
  name: "process-compose",
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

/** How long process-compose waits for a shutdown. */
const STOP_SECONDS = 10;

const DOTENV = ".env";

/** What the keys of a process depend on. */
interface ProcessContext {
  readonly process: Record<string, unknown>;
  readonly folder: string;
  readonly processes: Record<string, unknown>;
  readonly common: Record<string, string>;
  readonly shell: Shell;
  /** Whether there is a `.env`, which process-compose reads for every process. */
  readonly hasDotenv: boolean;
}

const FILE_KEYS = handled("version", "processes", "environment", "shell", "vars", "$schema");

const KEYS: ImportTable<unknown, ProcessContext> = {
  ...handled("is_dotenv_disabled", "vars"),
  command: (value, { shell, process }) => {
    if (process.entrypoint !== undefined) return {};
    const command = dollars(String(value)).trim();
    return needsShell(command, shell)
      ? { entrypoint: shell.program, args: [shell.argument, command] }
      : { command };
  },
  entrypoint: (value) => {
    const [entrypoint, ...args] = (Array.isArray(value) ? value : [value])
      .map((word) => withReferences(String(word)));
    return { entrypoint, args };
  },
  working_dir: (value) => ({ cwd: withReferences(String(value)) }),
  environment: (value) => ({ env: environment(value) }),
  env_file: (value) => ({ env_file: value }),
  success_exit_codes: (value) => ({ success_exit_codes: value }),
  namespace: (value) => {
    const [namespace, ...tags] = Array.isArray(value) ? value : [value];
    return { namespace, tags };
  },
  replicas: (value) => ({ instances: value }),
  is_tty: (value) => ({ tty: value }),
  disabled: (value) => value === true ? { autostart: false } : {},
  ready_log_line: (value) => ({ ready_log: literally(String(value)), wait_ready: true }),
  depends_on: (value, { processes }) => ({ depends_on: dependsOn(value, processes) }),
  availability: (value) => isMap(value) ? availability(value) : {},
  shutdown: (value, { shell }) => isMap(value) ? shutdown(value, shell) : {},
  // The liveness probe wins, because it restarts.
  readiness_probe: (value, { shell, process }) => ({
    wait_ready: true,
    ...("liveness_probe" in process
      ? { lost: "the liveness probe is used for both" }
      : { health_check: { ...probe(value, shell), on_failure: "none" } }),
  }),
  liveness_probe: (value, { shell }) => ({ health_check: probe(value, shell) }),
  schedule: (value) => isMap(value) ? scheduled(value) : {},
  log_location: (value, { folder }) => ({ lost: logFileProblem(logFile(value), folder) }),
};

function convert({ file, value }: ConfigDocument): Imported {
  if (!isMap(value) || !isMap(value.processes)) {
    const docker = isMap(value) && "services" in value;
    throw new ConfigProblem(file, '"processes" is missing', {
      advice: docker
        ? "it has services: use procsup import compose"
        : "is it a process-compose file?",
    });
  }
  const result = new ImportResult(file);
  const run = { critical: [] as string[], exit_on_failure: [] as string[] };
  const { notes } = convertedKeys(FILE_KEYS, Object.entries(value), undefined);
  result.note(undefined, ...notes);
  const context = {
    folder: result.folder,
    processes: value.processes,
    common: environment(value.environment),
    shell: shellOf(value.shell),
    hasDotenv: lookAt(join(result.folder, DOTENV))?.isFile === true,
  };
  for (const [name, given] of Object.entries(value.processes)) {
    if (!isMap(given)) {
      result.note(name, "expected a map");
      continue;
    }
    const process = withVars(given, texts({ ...mapOf(value.vars), ...mapOf(given.vars) }));
    const taken = addProcess(name, { ...context, process }, result);
    const { exit_on_end, restart } = mapOf(process.availability);
    if (exit_on_end === true) run.critical.push(taken);
    if (restart === "exit_on_failure") run.exit_on_failure.push(taken);
  }
  const given = Object.entries(run).filter(([, names]) => names.length > 0);
  return { ...result.imported(), run: Object.fromEntries(given) };
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
  const { process, common, hasDotenv, folder } = context;
  const { keys, notes } = convertedKeys(KEYS, Object.entries(process), context);
  const all: Keys = mergePatch({ restart_policy: "never", env: common }, keys);
  const lost = [...notes, ...unknownInside(process, INNER), ...unscheduled(process.schedule)];
  if (all.cron !== undefined && all.restart_policy === "always") {
    all.restart_policy = "never";
    lost.push("availability.restart: a job ends between its runs");
  }
  if (hasDotenv && process.is_dotenv_disabled !== true) {
    all.env_file = [DOTENV, ...[all.env_file ?? []].flat()];
  }
  if (/\{\{/.test(JSON.stringify(process))) {
    lost.push("{{…}}: only variables in vars are filled in");
  }
  // One file for both streams; instances cannot share it.
  const file = logFile(process.log_location);
  const suffix = (all.instances ?? 1) === 1 ? "" : "-{instance}";
  const logs = logFiles({ stdout: file, stderr: file, folder, suffix });
  const taken = result.add(name, { ...all, ...logs });
  result.note(taken, ...lost);
  return taken;
}

function logFile(value: unknown): unknown {
  return typeof value === "string" ? withReferences(value) : value;
}

/** Keys inside of the keys of a process that are converted. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  ...innerOfProbe("readiness_probe"),
  ...innerOfProbe("liveness_probe"),
  availability: ["restart", "backoff_seconds", "max_restarts", "exit_on_end"],
  shutdown: ["signal", "timeout_seconds", "command"],
  schedule: ["cron", "interval", "timezone", "run_on_start", "max_concurrent"],
};

function innerOfProbe(probe: string): Record<string, readonly string[]> {
  return {
    [probe]: ["http_get", "exec", "initial_delay_seconds", "period_seconds"]
      .concat("timeout_seconds", "success_threshold", "failure_threshold"),
    [`${probe}.http_get`]: ["scheme", "host", "port", "path"],
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
  { signal, timeout_seconds, command }: Record<string, unknown>,
  shell: Shell,
): Keys {
  // Without a limit, or with 0, process-compose uses its default.
  return {
    stop_signal: signal,
    stop_timeout: seconds(timeout_seconds || STOP_SECONDS),
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

/** Units of an interval: how many make the next one, and a schedule with a step of the unit. */
const INTERVALS: Readonly<Record<string, readonly [count: number, (step: string) => string]>> = {
  s: [60, (step) => `${step} * * * * *`],
  m: [60, (step) => `${step} * * * *`],
  h: [24, (step) => `0 ${step} * * *`],
};

/** `30m` as a schedule; undefined if no schedule has this interval. */
function everyInterval(interval: unknown): string | undefined {
  const [, digits, unit = ""] = /^(\d+)([smh])$/.exec(String(interval)) ?? [];
  const [count, schedule] = INTERVALS[unit] ?? [];
  if (count === undefined || count % Number(digits) !== 0) return undefined;
  return schedule!(Number(digits) === count ? "0" : `*/${Number(digits)}`);
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

/** process-compose escapes `$` as `$$`. */
function dollars(text: string): string {
  return text.replaceAll("$$", "$");
}

type Shell = ReturnType<typeof shellOf>;

function shellOf(value: unknown) {
  const { shell_command: program = "bash", shell_argument: argument = "-c" } = mapOf(value);
  return { program: String(program), argument: String(argument) };
}

/**
 * What bash may read otherwise than /bin/sh. It finds too much rather than too little: a command
 * that runs under bash without need does the same.
 */
const BASH_ONLY = new RegExp(
  [
    /[{}!]|(?<!\$)\(|\[\[|<<|<\(|&>|>&(?!\d)|\|&|==|=~|\+=|\$['"]/,
    /\b(source|declare|typeset|local|shopt|pipefail|function|let|mapfile|readarray|pushd|popd)\b/,
    /\b(disown|time|trap|type|select|coproc|RANDOM|SECONDS|BASH\w*)\b|\b(echo|read|printf|exec) -/,
  ].map(({ source }) => source).join("|"),
);

/** `${NAME}` and `${NAME:-default}`, which every shell knows. */
const PARAMETER = /\$\{\w+(:?[-+=?][^{}]*)?\}/g;

/** Whether a command has to run under the shell of the file, as /bin/sh may read it otherwise. */
function needsShell(command: string, { program }: Shell): boolean {
  if (/^(.*\/)?(da)?sh$/.test(program)) return false;
  return !/^(.*\/)?bash$/.test(program) || BASH_ONLY.test(command.replace(PARAMETER, "$X"));
}

/** A line for /bin/sh. */
function shellLine(value: unknown, shell: Shell): string {
  const command = dollars(String(value));
  return needsShell(command, shell)
    ? `${shellWord(shell.program)} ${shellWord(shell.argument)} ${shellWord(command)}`
    : command;
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
  const { scheme = "http", host = "127.0.0.1", port, path = "/" } = http_get;
  const at = port === undefined ? host : `${host}:${port}`;
  const url = `${scheme}://${at}/${String(path).replace(/^\//, "")}`;
  return { type: "http", url: withReferences(url) };
}
