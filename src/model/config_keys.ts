/**
 * The two spellings of a configuration. On the wire and in files: snake_case, durations and sizes as
 * strings. In memory: camelCase, and numbers with `Ms` or `Bytes` in the name.
 */

import { formatDuration } from "./duration.ts";
import { messageOf, ProcsupError } from "./errors.ts";
import { quote } from "./quote.ts";
import { formatSize } from "./size.ts";

/** Keys whose value is a map of the user's own keys: nothing inside them is renamed. */
const MAPS = new Set(["env", "labels", "depends_on", "dependsOn", "secrets"]);

/** Wire keys that hold a duration; the schema turns their values into milliseconds. */
const DURATION_KEYS: ReadonlySet<string> = new Set([
  "restart_window",
  "restart_delay",
  "retry_delay",
  "backoff_max",
  "min_uptime",
  "stop_timeout",
  "listen_timeout",
  "ready_delay",
  "max_age",
  "interval",
  "timeout",
  "grace_period",
  "debounce",
]);

/** Wire keys that hold a size; the schema turns their values into bytes. */
const SIZE_KEYS: ReadonlySet<string> = new Set([
  "max_memory",
  "max_size",
  "core",
  "address_space",
  "file_size",
  "memory",
]);

/** `restartDelay` → `restart_delay`. Of two keys the spec writes the one as one word, the other as two. */
export function snakeCase(key: string): string {
  return key.replace(/^(pre|post)HealthCheck$/, "$1Healthcheck")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(key: string): string {
  return key.replace(/^(pre|post)_healthcheck$/, "$1_health_check").replace(
    /_([a-z0-9])/g,
    (_, letter: string) => letter.toUpperCase(),
  );
}

type Value = unknown;
type Keyed = Record<string, Value>;

function isKeyed(value: Value): value is Keyed {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function rename(value: Value, entry: (key: string, value: Value) => [string, Value]): Value {
  if (Array.isArray(value)) return value.map((item) => rename(item, entry));
  if (!isKeyed(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      entry(key, MAPS.has(key) ? inner : rename(inner, entry))
    ),
  );
}

/** A checked wire configuration, durations in milliseconds, → the names used in memory. */
export function memoryKeys(wire: object): unknown {
  return rename(
    wire,
    (key, value) => [camelCase(key) + unitOf(key), value],
  );
}

/** A configuration in memory → its wire form, durations as strings, what is empty by default left out. */
export function wireKeys(config: object): Record<string, unknown> {
  const renamed = rename(config, (key, value) => {
    const wire = snakeCase(key.replace(/(Ms|Bytes)$/, ""));
    return [wire, textOf(wire, value)];
  }) as Keyed;
  return Object.fromEntries(
    Object.entries(renamed).filter(([key, value]) =>
      !isEmpty(value) || key === "success_exit_codes"
    ),
  );
}

function unitOf(key: string): string {
  return DURATION_KEYS.has(key) ? "Ms" : SIZE_KEYS.has(key) ? "Bytes" : "";
}

function textOf(key: string, value: Value): Value {
  if (typeof value !== "number") return value;
  return DURATION_KEYS.has(key)
    ? formatDuration(value)
    : SIZE_KEYS.has(key)
    ? formatSize(value)
    : value;
}

/**
 * What a library user wrote → wire keys, values untouched; what is undefined is left out. Throws
 * `invalid_config` for what is no object or cannot be read, and for a key in both spellings.
 */
export function inputKeys(input: object): Record<string, unknown> {
  if (!isKeyed(input)) {
    throw invalid(`Invalid configuration ${quote(input)}: expected an object`);
  }
  try {
    return inputValue(input) as Keyed;
  } catch (cause) {
    if (cause instanceof ProcsupError) throw cause;
    throw invalid(`Cannot read the configuration: ${messageOf(cause)}`, cause);
  }
}

function inputValue(value: Value): Value {
  if (Array.isArray(value)) return value.map(inputValue);
  if (!isPlain(value)) return value;
  const spelt = new Map<string, string>();
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => {
    const wire = snakeCase(key);
    const other = spelt.get(wire);
    if (other !== undefined) {
      throw invalid(`Invalid configuration: "${other}" and "${key}" mean the same, give one`);
    }
    spelt.set(wire, key);
    return [wire, MAPS.has(key) && isPlain(inner) ? { ...inner } : inputValue(inner)];
  }));
}

/** Whether its keys are all that there is to it; a date or a map is for the schema to refuse. */
function isPlain(value: Value): value is Keyed {
  return Object.prototype.toString.call(value) === "[object Object]";
}

function invalid(message: string, cause?: unknown): ProcsupError {
  return new ProcsupError("invalid_config", message, { cause });
}

function isEmpty(value: Value): boolean {
  return value === undefined || (typeof value === "object" && value !== null &&
    Object.keys(value).length === 0);
}
