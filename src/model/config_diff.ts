/** Compares configurations, and decides whether a change needs a restart. Pure. */

import { isMap } from "./merge_patch.ts";
import { wireKeys } from "./key_spelling.ts";
import { type KeyTable, rowsAt } from "./key_table.ts";
import type { ProcessConfig } from "./process_config.ts";
import { PROCESS_KEYS } from "./process_keys.ts";

/** One difference, by its wire key. */
export interface FieldChange {
  /** `instances`, `log.max_size`, `env.PORT`. */
  readonly field: string;
  /** Undefined if the key was not set, or its values are masked. */
  readonly from?: unknown;
  readonly to?: unknown;
}

/** The differences by key; empty if the configurations are equal. */
export function configChanges(before: ProcessConfig, after: ProcessConfig): FieldChange[] {
  return keyChanges(wireKeys(before), wireKeys(after), PROCESS_KEYS);
}

/** The differences of two maps in wire form, without the values of masked keys. */
export function keyChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  table: KeyTable,
): FieldChange[] {
  return keysOf(from, to).flatMap((key) => {
    if (same(from[key], to[key])) return [];
    const hidden = table[key]?.masked !== undefined;
    const nested = isMap(from[key] ?? to[key]) && isMap(to[key] ?? from[key]);
    if (nested) return nestedChanges(key, from[key] ?? {}, to[key] ?? {}, hidden);
    return [hidden ? { field: key } : { field: key, from: from[key], to: to[key] }];
  });
}

/** Whether a change takes effect only in a new run. */
export function needsRestart(changes: readonly FieldChange[]): boolean {
  return changes.some(({ field }) =>
    !rowsAt(PROCESS_KEYS, field.split(".")).some((row) => "live" in row && row.live)
  );
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

/** Whether two JSON values are equal, regardless of the order of keys. */
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
