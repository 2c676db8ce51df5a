/** The rows of a list of processes that changed, field by field. Pure. */

import type { ProcessJson } from "./wire.ts";

/** The fields of a process that changed; null for one that is gone. */
export type RowChange =
  & Pick<ProcessJson, "id">
  & { readonly [K in keyof ProcessJson]?: ProcessJson[K] | null };

/** Rows by id. */
export type Rows = ReadonlyMap<string, ProcessJson>;

/** The message `processes` of the WebSocket. */
export interface RowChanges {
  /** Set if these are all rows, whole. */
  readonly all?: true;
  readonly rows: readonly RowChange[];
  /** Ids of rows that are gone. */
  readonly gone: readonly string[];
}

/** They follow from other fields, and change all the time. */
const DERIVED: ReadonlySet<string> = new Set(["uptime", "mem_percent"]);

export function rowChanges(before: Rows, after: readonly ProcessJson[]): RowChanges {
  const present = new Set(after.map(({ id }) => id));
  return {
    rows: after.flatMap((row) => {
      const old = before.get(row.id);
      return old === undefined ? [row] : old === row ? [] : changed(old, row) ?? [];
    }),
    gone: [...before.keys()].filter((id) => !present.has(id)),
  };
}

function changed(old: ProcessJson, row: ProcessJson): RowChange | undefined {
  const fields = new Set([...Object.keys(old), ...Object.keys(row)]) as Set<keyof ProcessJson>;
  const news = [...fields].filter((key) => !DERIVED.has(key) && !isSame(old[key], row[key]))
    .map((key) => [key, row[key] ?? null]);
  return news.length === 0 ? undefined : { id: row.id, ...Object.fromEntries(news) };
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const areObjects = typeof one === "object" && typeof other === "object";
  return areObjects && JSON.stringify(one) === JSON.stringify(other);
}

/** The rows after the changes. A row without a change stays the same object. */
export function withChanges(rows: Rows, { all, rows: changes, gone }: RowChanges): Rows {
  const next = new Map(all ? [] : rows);
  for (const id of gone) next.delete(id);
  for (const change of changes) {
    const row = { ...rows.get(change.id), ...change } as ProcessJson;
    const old = rows.get(change.id);
    next.set(change.id, old !== undefined && changed(old, row) === undefined ? old : row);
  }
  return next;
}
