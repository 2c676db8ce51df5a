/** Compares configurations, and decides whether a change needs a restart. Pure. */

import { isMap, type Keyed } from "./merge_patch.ts";
import { wireKeys } from "./key_spelling.ts";
import { type KeyTable, rowsAt } from "./key_table.ts";
import type { ProcessConfig } from "./process_config.ts";
import { PROCESS_KEYS } from "./process_keys.ts";
import { masked } from "./secret_values.ts";

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
  // The usual case needs no wire form.
  if (same(before, after)) return [];
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
    const isHidden = ["always", "in changes"].includes(table[key]?.masked!);
    const shown = (value: unknown) => isHidden ? undefined : masked({ [key]: value }, table)[key];
    const nested = isMap(from[key] ?? to[key]) && isMap(to[key] ?? from[key]);
    if (!nested) return [change(key, shown(from[key]), shown(to[key]))];
    const [a, b] = [from[key] ?? {}, to[key] ?? {}] as [Keyed, Keyed];
    const [shownA, shownB] = [shown(a) ?? {}, shown(b) ?? {}] as [Keyed, Keyed];
    return keysOf(a, b).filter((inner) => !same(a[inner], b[inner]))
      .map((inner) => change(`${key}.${inner}`, shownA[inner], shownB[inner]));
  });
}

/** Whether a change takes effect only in a new run. */
export function needsRestart(changes: readonly FieldChange[]): boolean {
  return changes.some(({ field }) =>
    !rowsAt(PROCESS_KEYS, field.split(".")).some((row) => "live" in row && row.live)
  );
}

/** Masks can make two different values look alike: then neither is shown. */
function change(field: string, from: unknown, to: unknown): FieldChange {
  return same(from, to) ? { field } : { field, from, to };
}

function keysOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

/** Whether two JSON values are equal, regardless of the order of keys. */
function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  }
  return isMap(a) && isMap(b) && keysOf(a, b).every((key) => same(a[key], b[key]));
}
