/** What two configurations differ in, and what of it needs a restart. Pure. */

import { wireKeys } from "../model/config_keys.ts";
import type { ProcessConfig } from "../model/process_config.ts";

/** One difference, by its wire key. */
export interface FieldChange {
  /** `instances`, `log.max_size`, `env.PORT`. */
  readonly field: string;
  /** Undefined where there was nothing, and where it may not be shown. */
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Keys that are read when they are needed: what runs need not be replaced for them. */
const LIVE: ReadonlySet<string> = new Set([
  "instances",
  "autostart",
  "restart_policy",
  "max_restarts",
  "restart_window",
  "restart_delay",
  "backoff_max",
  "min_uptime",
  "success_exit_codes",
  "stop_signal",
  "stop_timeout",
  "reload_signal",
  "overlap",
  "hooks",
  "labels",
  "tags",
  "depends_on",
  "priority",
  "log.max_size",
  "log.max_files",
  "log.max_age",
  "log.compress",
]);

/** Keys whose values are told to nobody. */
const HIDDEN: ReadonlySet<string> = new Set(["env", "secrets", "args"]);

/** The differences by key, none where the configurations are the same. */
export function configChanges(before: ProcessConfig, after: ProcessConfig): FieldChange[] {
  return keyChanges(wireKeys(before), wireKeys(after), HIDDEN);
}

/** The differences of two maps in wire form; values of `hidden` keys are not told. */
export function keyChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  hidden: ReadonlySet<string> = new Set(),
): FieldChange[] {
  return keysOf(from, to).flatMap((key) => {
    if (same(from[key], to[key])) return [];
    const nested = isMap(from[key] ?? to[key]) && isMap(to[key] ?? from[key]);
    if (nested) return nestedChanges(key, from[key] ?? {}, to[key] ?? {}, hidden.has(key));
    return [hidden.has(key) ? { field: key } : { field: key, from: from[key], to: to[key] }];
  });
}

/** Whether what runs must be replaced to have the change. */
export function needsRestart(changes: readonly FieldChange[]): boolean {
  return changes.some(({ field }) => !LIVE.has(field) && !LIVE.has(field.split(".")[0]!));
}

function nestedChanges(key: string, from: object, to: object, hidden: boolean): FieldChange[] {
  const [a, b] = [from as Record<string, unknown>, to as Record<string, unknown>];
  return keysOf(a, b).filter((inner) => !same(a[inner], b[inner])).map((inner) => {
    const field = `${key}.${inner}`;
    return hidden ? { field } : { field, from: a[inner], to: b[inner] };
  });
}

function keysOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two JSON values say the same, whatever the order of their keys. */
function same(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner) =>
      isMap(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
        : inner,
  ) ?? "";
}
