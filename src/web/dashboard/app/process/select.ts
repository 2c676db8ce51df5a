/** Predicates on processes, and their order. Pure. */

import { baseName } from "../../../../model/name.ts";
import { conditionOf, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";

/** The apps that a process depends on, each with its condition. */
export function dependenciesOf({ config }: Pick<ProcessJson, "config">): [string, string][] {
  const given = config.depends_on ?? {};
  return Array.isArray(given)
    ? given.map((name) => [String(name), "started"])
    : Object.entries(given).map(([name, condition]) => [name, String(condition)]);
}

/** The apps that depend on one of these and run now, without these themselves. */
export function runningDependents(
  names: readonly string[],
  list: readonly ProcessJson[],
): string[] {
  const own = new Set(names.map(baseName));
  const found = list.filter((process) =>
    isUp(process) && dependenciesOf(process).some(([name]) => own.has(baseName(name)))
  ).map(({ name }) => baseName(name));
  return [...new Set(found)].filter((name) => !own.has(name)).sort();
}

export type SortKey = keyof typeof VALUE_OF;

export function isSortKey(key: string | null): key is SortKey {
  return key !== null && Object.hasOwn(VALUE_OF, key);
}

/** What else processes are sorted by: ports by id, errors by name. */
export interface Figures {
  readonly ports: ReadonlyMap<string, readonly number[]>;
  readonly errors: ReadonlyMap<string, { readonly error: number }>;
}

/** Compares two processes. Equal ones keep the order of their names. */
export function byKey(
  key: SortKey,
  figures: Figures,
): (a: ProcessJson, b: ProcessJson) => number {
  const value: Value = VALUE_OF[key];
  return (a, b) => {
    const [x, y] = [value(a, figures), value(b, figures)];
    if (typeof x === "string" && typeof y === "string") return natural.compare(x, y);
    return Number(x) - Number(y) || natural.compare(a.name, b.name);
  };
}

export const natural = new Intl.Collator("en", { numeric: true });

type Value = (process: ProcessJson, figures: Figures) => string | number;

const VALUE_OF = {
  name: ({ name }) => name,
  state: (process) => CONDITIONS_BY_URGENCY.indexOf(conditionOf(process)),
  cpu: ({ cpu_percent }) => cpu_percent,
  memory: ({ memory_bytes }) => memory_bytes,
  ports: ({ id }, { ports }) => ports.get(id)?.[0] ?? Number.MAX_VALUE,
  uptime: ({ started_at, pid }) => pid === 0 || started_at === null ? 0 : -Date.parse(started_at),
  restarts: ({ restarts }) => restarts,
  errors: ({ name }, { errors }) => errors.get(name)?.error ?? 0,
  pid: ({ pid }) => pid,
  id: ({ numeric_id }) => numeric_id,
} satisfies Readonly<Record<string, Value>>;

/** True if it runs, or is starting or stopping. */
export function isUp({ state }: Pick<ProcessJson, "state">): boolean {
  return state === "running" || state === "starting" || state === "stopping";
}

/**
 * The names of the stopped processes, and of the rest. If all are stopped, they are the rest: then a
 * start is wanted.
 */
export function stoppedAmong(members: readonly Pick<ProcessJson, "name" | "state">[]) {
  const { stopped = [], rest = [] } = Object.groupBy(
    members,
    ({ state }) => state === "stopped" ? "stopped" : "rest",
  );
  const names = (some: typeof stopped) => some.map(({ name }) => name);
  return rest.length === 0
    ? { stopped: [], rest: names(stopped) }
    : { stopped: names(stopped), rest: names(rest) };
}

/** True if it can be stopped: it is up, or waits for its start. */
export function isStarted(process: Pick<ProcessJson, "state">): boolean {
  return isUp(process) || process.state === "waiting";
}

export function needsAttention(process: ProcessJson): boolean {
  return process.state === "errored" || process.state === "crashed" ||
    process.health === "unhealthy" ||
    (process.state === "waiting" && process.next_restart_at !== null);
}
