/** Which processes the search field means: the target words of the command line. Pure. */

import { type ProcessJson, type State, STATES } from "../data/types.ts";

/** What a process has that words can name. */
export type Selectable = Pick<
  ProcessJson,
  "id" | "numeric_id" | "name" | "namespace" | "tags" | "config" | "state"
>;

/**
 * Whether a process is meant. Words are parted by spaces and all must hold: `all`, `ns:…`, `tag:…`,
 * `label:k=v`, a state, a number, the beginning of an id, or a part of a name; `-` before one negates.
 */
export function isMeant(search: string, process: Selectable): boolean {
  return search.trim().toLowerCase().split(/\s+/).every((word) =>
    word.startsWith("-") && word.length > 1
      ? !matches(word.slice(1), process)
      : matches(word, process)
  );
}

function matches(word: string, process: Selectable): boolean {
  if (word === "" || word === "all") return true;
  const selector = /^(ns|tag|label|state):(.*)$/s.exec(word);
  if (selector !== null) return matchesSelector(selector[1]!, selector[2]!, process);
  if (STATES.includes(word as State)) return process.state === word || inName(word, process);
  if (/^\d+$/.test(word)) return process.numeric_id === Number(word) || inName(word, process);
  return inName(word, process) || process.id.toLowerCase().startsWith(word);
}

function inName(word: string, { name }: Selectable): boolean {
  return name.toLowerCase().includes(word);
}

/** While a value is typed, its beginning will do. */
function matchesSelector(kind: string, value: string, process: Selectable): boolean {
  const begins = (text: string) => text.toLowerCase().startsWith(value);
  if (kind === "ns") return begins(process.namespace);
  if (kind === "tag") return process.tags.some(begins);
  if (kind === "state") return begins(process.state);
  const [key = "", wanted] = value.split(/=(.*)/s);
  return Object.entries((process.config.labels ?? {}) as Record<string, string>).some((
    [name, text],
  ) =>
    wanted === undefined
      ? name.toLowerCase().startsWith(key)
      : name.toLowerCase() === key && String(text).toLowerCase().startsWith(wanted)
  );
}

/** Name without its instance: `web:3` → `web`. */
export function baseName(name: string): string {
  return name.replace(/:\d+$/, "");
}

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

/** What a table can be sorted by. */
export type SortKey = "name" | "state" | "cpu" | "memory" | "uptime" | "restarts" | "id";

/** Compares two processes. Equal ones keep the order of their names. */
export function byKey(key: SortKey): (a: ProcessJson, b: ProcessJson) => number {
  const value = VALUE_OF[key];
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "string" && typeof y === "string") return natural.compare(x, y);
    return Number(x) - Number(y) || natural.compare(a.name, b.name);
  };
}

const natural = new Intl.Collator("en", { numeric: true });

const VALUE_OF: Readonly<Record<SortKey, (process: ProcessJson) => string | number>> = {
  name: ({ name }) => name,
  state: ({ state }) => STATES.indexOf(state),
  cpu: ({ cpu_percent }) => cpu_percent,
  memory: ({ memory_bytes }) => memory_bytes,
  uptime: ({ started_at, pid }) => pid === 0 || started_at === null ? 0 : -Date.parse(started_at),
  restarts: ({ restarts }) => restarts,
  id: ({ numeric_id }) => numeric_id,
};

/** Whether something of it runs. */
export function isUp({ state }: Pick<ProcessJson, "state">): boolean {
  return state === "running" || state === "starting" || state === "stopping";
}

/** Whether somebody should have a look at it. */
export function needsAttention(process: ProcessJson): boolean {
  return process.state === "errored" || process.state === "crashed" ||
    process.health === "unhealthy" ||
    (process.state === "waiting" && process.next_restart_at !== null);
}
