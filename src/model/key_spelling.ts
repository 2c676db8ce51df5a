/**
 * The two spellings of a configuration. On the wire and in files: snake_case, durations and sizes as
 * strings. In memory: camelCase, and numbers with `Ms` or `Bytes` in the name.
 */

import { durationProblem, formatDuration, parseDuration } from "./duration.ts";
import { messageOf, ProcsupError, quote } from "./errors.ts";
import {
  camelCase,
  formOf,
  keyNames,
  type KeyTable,
  memoryName,
  rowOf,
  snakeCase,
  type ValueType,
} from "./key_table.ts";
import { isMap, type Keyed } from "./merge_patch.ts";
import { nearestWord, withNearest } from "./nearest_word.ts";
import { PROCESS_KEYS } from "./process_keys.ts";
import { commandOf } from "./shell_line.ts";
import { formatSize, parseSize } from "./size.ts";

/** Keys that are written even if empty: without `shell_env` an app inherits from the daemon. */
const ALWAYS: ReadonlySet<string> = new Set(["args", "env", "shell_env"]);

/** Converts a configuration in memory to wire form. Omits empty values whose default is empty. */
export function wireKeys(config: object, table: KeyTable = PROCESS_KEYS): Keyed {
  const wire = wireObject(config, table);
  return Object.fromEntries(
    Object.entries(wire).filter(([key, value]) =>
      !isEmpty(value) || !isEmpty(table[key]!.default) || ALWAYS.has(key)
    ),
  );
}

function wireObject(config: object, table: KeyTable): Keyed {
  const names = wireNames(table);
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const key = names.get(name)!;
      return [key, wireValue(value, table[key]!)];
    }),
  );
}

function wireValue(value: unknown, row: ValueType): unknown {
  if (row.type === "object" && isMap(value)) return wireObject(value, row.keys);
  if (row.type === "list" && Array.isArray(value)) {
    return value.map((item) => wireValue(item, formOf(row.of, item)));
  }
  if (typeof value !== "number") return value;
  return row.type === "duration"
    ? formatDuration(value)
    : row.type === "size"
    ? formatSize(value)
    : value;
}

/**
 * Converts a checked configuration from wire form, the opposite of `wireKeys()`. Durations may be
 * milliseconds, and sizes bytes, already.
 */
export function configOf(wire: object, table: KeyTable = PROCESS_KEYS): Keyed {
  const given = wire as Keyed;
  const entries = Object.entries(table).flatMap(([key, row]) => {
    // wireKeys() omits empty values.
    const value = given[key] ??
      (row.default !== undefined && isEmpty(row.default) ? row.default : undefined);
    return value === undefined ? [] : [[memoryName(key, row), memoryValue(value, row)]];
  });
  return Object.fromEntries(entries);
}

function memoryValue(value: unknown, row: ValueType): unknown {
  if (row.type === "object" && isMap(value)) return configOf(value, row.keys);
  if (row.type === "list" && Array.isArray(value)) {
    return value.map((item) => memoryValue(item, formOf(row.of, item)));
  }
  if (row.type === "duration" && typeof value === "string") return parseDuration(value);
  return row.type === "size" && typeof value === "string" ? parseSize(value) : value;
}

/** A constant of each table, made when it is first needed. */
const namesOf = new WeakMap<KeyTable, ReadonlyMap<string, string>>();

/** Maps the names in memory to keys. */
function wireNames(table: KeyTable): ReadonlyMap<string, string> {
  const known = namesOf.get(table);
  if (known !== undefined) return known;
  const names = new Map(Object.entries(table).map(([key, row]) => [memoryName(key, row), key]));
  namesOf.set(table, names);
  return names;
}

/**
 * Converts a library user's input to wire keys. Values stay as they are; undefined ones are
 * dropped. Throws `invalid_config` if the input is not an object, cannot be read, has a key in both
 * spellings, or a value that JSON drops or changes.
 */
export function inputKeys(input: object): Keyed {
  if (!isMap(input)) {
    throw invalid(`Invalid configuration ${quote(input)}: expected an object`);
  }
  try {
    return inputObject(input, PROCESS_KEYS, []);
  } catch (cause) {
    if (cause instanceof ProcsupError) throw cause;
    throw invalid(`Cannot read the configuration: ${messageOf(cause)}`, cause);
  }
}

function inputObject(input: Keyed, table: KeyTable | undefined, path: readonly string[]): Keyed {
  const spelt = new Set<string>();
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  const unknown: string[] = [];
  const wire = Object.fromEntries(entries.map(([key, value]) => {
    const wire = snakeCase(key);
    if (spelt.has(wire)) {
      const twice = [...path, camelCase(wire)].join(".");
      throw invalid(`Invalid configuration: "${twice}" is given in both spellings`);
    }
    spelt.add(wire);
    const row = table && rowOf(table, wire);
    if (table !== undefined && row === undefined) unknown.push(key);
    return [wire, inputValue(value, row, [...path, key])];
  }));
  if (unknown.length > 0) throw unknownKeys(unknown, table!, path);
  return wire;
}

/** Leaves the keys of maps alone: they are the user's own. */
function inputValue(value: unknown, row: ValueType | undefined, path: readonly string[]): unknown {
  if (Array.isArray(value)) {
    const of = (item: unknown) => row?.type === "list" ? formOf(row.of, item) : undefined;
    return value.map((item, index) => inputValue(item, of(item), [...path, String(index)]));
  }
  if (!isPlain(value)) return scalar(value, path);
  if (row?.type === "map") {
    const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(
      given.map(([key, inner]) => [key, inputValue(inner, undefined, [...path, key])]),
    );
  }
  return inputObject(value, row?.type === "object" ? row.keys : undefined, path);
}

function unknownKeys(
  keys: readonly string[],
  table: KeyTable,
  path: readonly string[],
): ProcsupError {
  const names = keyNames(table).map(camelCase);
  const unknowns = keys.map((key) => {
    const foreign = table === PROCESS_KEYS ? foreignKey(snakeCase(key)) : undefined;
    const near = foreign === undefined ? nearestWord(key, names) : camelCase(foreign);
    const name = [...path, key].join(".");
    return { name, near, text: withNearest(`Unknown key "${name}"`, near) };
  });
  const [{ name: field, near }] = unknowns as [(typeof unknowns)[0]];
  const message = unknowns.map(({ text }) => text).join("; ");
  return new ProcsupError("invalid_config", message, { field, near });
}

/** Throws `invalid_config` for what JSON drops or changes, such as a `Date`, a `Map` or `NaN`. */
function scalar(value: unknown, path: readonly string[]): unknown {
  const isOther = typeof value === "object" && value !== null ||
    ["bigint", "symbol", "function"].includes(typeof value);
  if (!isOther && (typeof value !== "number" || Number.isFinite(value))) return value;
  const field = path.join(".");
  const message = `Invalid "${field}" ${quote(value)}: JSON cannot hold it`;
  throw new ProcsupError("invalid_config", message, { field });
}

/** Whether it is a plain object, unlike a `Date` or a `Map`. */
function isPlain(value: unknown): value is Keyed {
  return Object.prototype.toString.call(value) === "[object Object]";
}

function invalid(message: string, cause?: unknown): ProcsupError {
  return new ProcsupError("invalid_config", message, { cause });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null &&
    Object.keys(value).length === 0);
}

/** Keys of the program; `command` replaces all of them. */
const PROGRAM_KEYS = ["entrypoint", "script", "binary", "args"];

/** Keys of the runtime. A command line names its own program. */
const RUNTIME_KEYS = ["runtime", "interpreter", "use_bundle"];

/** What is wrong with `command`; undefined if it is valid or missing. */
export function commandProblem({ command, ...keys }: Keyed): string | undefined {
  if (command === undefined) return undefined;
  const beside = PROGRAM_KEYS.find((key) => keys[key] != null);
  if (beside !== undefined) return `give either "command" or "${beside}", not both`;
  if (command === null || (typeof command === "string" && command.trim() !== "")) return undefined;
  return 'expected a command line, such as "node app.js --port 80"';
}

/** The keys that a patch keeps: its `command` replaces the keys of program and runtime. */
export function keptUnder(patch: Keyed, keys: Keyed): Keyed {
  if (patch.command == null) return keys;
  const replaced = [...PROGRAM_KEYS, ...RUNTIME_KEYS];
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !replaced.includes(key)));
}

/**
 * Expands `command` to entrypoint and arguments, `instances: max` to a number, an empty runtime to
 * `auto` and `every` to a schedule. Leaves values of the wrong type, and keys given twice, for the schema to refuse.
 */
export function expanded(given: Keyed): Keyed {
  const keys: Record<string, unknown> = { ...given };
  const { command, instances, runtime } = keys;
  if (runtime === "") keys.runtime = "auto";
  if (instances === "max") keys.instances = navigator.hardwareConcurrency;
  for (const [key, row] of Object.entries(PROCESS_KEYS)) {
    const given = keys[key];
    if (row.type === "object" && isMap(given)) keys[key] = standInsReplaced(given, row.keys);
  }
  if (typeof command !== "string" || commandProblem(keys) !== undefined) return keys;
  delete keys.command;
  return { ...keys, ...commandOf(command) };
}

/** Replaces keys given in place of others, such as `every: 30s` by `schedule: "@every 30s"`. */
function standInsReplaced(value: Keyed, table: KeyTable): Keyed {
  const inner = { ...value };
  for (const [key, { type, becomes }] of Object.entries(table)) {
    const given = inner[key];
    if (becomes === undefined || inner[becomes.key] !== undefined) continue;
    if (type !== "duration" || !(typeof given === "string" || typeof given === "number")) continue;
    if (durationProblem(given) !== undefined) continue;
    delete inner[key];
    inner[becomes.key] = becomes.prefix + formatDuration(parseDuration(given));
  }
  return inner;
}

/** Process keys of PM2, supervisord, systemd and Compose → ours. */
const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  autorestart: "restart_policy",
  availability: "restart_policy",
  cmd: "entrypoint",
  cpus: "limits.cpu_percent",
  cron_schedule: "cron",
  description: "labels",
  dir: "cwd",
  directory: "cwd",
  disabled: "autostart",
  environment: "env",
  environment_file: "env_file",
  error_file: "log",
  exec: "entrypoint",
  exec_mode: "sockets",
  exec_reload: "reload_signal",
  exec_start: "entrypoint",
  exec_start_pre: "hooks.pre_start",
  exitcodes: "success_exit_codes",
  expose: "sockets",
  group: "namespace",
  healthcheck: "health_check",
  ignore_watch: "watch.ignore",
  kill_timeout: "stop_timeout",
  limit_nofile: "limits.nofile",
  liveness_probe: "health_check",
  log_location: "log",
  max_mem: "max_memory",
  max_memory_restart: "max_memory",
  mem_limit: "limits.memory",
  memory: "limits.memory",
  memory_max: "limits.memory",
  numprocs: "instances",
  on_failure: "webhooks",
  out_file: "log",
  port: "sockets",
  ports: "sockets",
  readiness_probe: "health_check",
  ready_log_line: "ready_log",
  replicas: "instances",
  restart: "restart_policy",
  schedule: "cron",
  shutdown: "stop_signal",
  startretries: "max_restarts",
  startsecs: "min_uptime",
  stdout_logfile: "log",
  stderr_logfile: "log",
  stop_grace_period: "stop_timeout",
  stopwaitsecs: "stop_timeout",
  timeout: "stop_timeout",
  ulimits: "limits",
  user: "uid",
  user_id: "uid",
  workdir: "cwd",
  working_dir: "cwd",
  working_directory: "cwd",
};

/** Our key for what another tool calls `key`; undefined for any other word. */
export function foreignKey(key: string): string | undefined {
  const snake = key.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  return Object.hasOwn(FOREIGN_KEYS, snake) ? FOREIGN_KEYS[snake] : undefined;
}
