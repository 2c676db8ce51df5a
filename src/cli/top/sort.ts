/** The order of the apps. Pure. */

import { baseName } from "../../model/name.ts";
import { STATES_BY_URGENCY } from "../../model/process_info.ts";
import type { ProcessJson } from "../../protocol/wire.ts";

/** Sort key. */
export type SortKey = (typeof SORT_KEYS)[number];

/** All sort keys in their cycle order. */
export const SORT_KEYS = ["id", "name", "state", "cpu", "mem", "restarts", "uptime"] as const;

/** A sort key and its direction. */
export interface Sort {
  readonly key: SortKey;
  readonly reverse: boolean;
}

type Order = (one: ProcessJson, other: ProcessJson) => number;

/** Numbers sort largest first. */
const ORDERS: Readonly<Record<SortKey, Order>> = {
  id: (one, other) => one.numeric_id - other.numeric_id,
  name: (one, other) =>
    compare(baseName(one.name).toLowerCase(), baseName(other.name).toLowerCase()) ||
    one.instance_index - other.instance_index,
  state: (one, other) =>
    STATES_BY_URGENCY.indexOf(one.state) - STATES_BY_URGENCY.indexOf(other.state),
  cpu: (one, other) => other.cpu_percent - one.cpu_percent,
  mem: (one, other) => other.memory_bytes - one.memory_bytes,
  restarts: (one, other) => other.restarts - one.restarts,
  uptime: (one, other) => other.uptime - one.uptime,
};

/** Sorts apps; ties by numeric id. */
export function sorted(processes: readonly ProcessJson[], { key, reverse }: Sort): ProcessJson[] {
  const sign = reverse ? -1 : 1;
  return processes.toSorted((one, other) =>
    sign * ORDERS[key](one, other) || ORDERS.id(one, other)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Parses a filter. All words must match: `ns:…`, `tag:…`, `label:KEY[=VALUE]`,
 * `state:…`, a number, a state, a part of the name, or the start of an id; `!`
 * negates a word.
 */
export function parseFilter(filter: string): (process: ProcessJson) => boolean {
  const tests = filter.toLowerCase().split(/\s+/).filter((word) => word !== "" && word !== "!")
    .map(wordTest);
  return (process) => tests.every((test) => test(process));
}

function wordTest(word: string): (process: ProcessJson) => boolean {
  if (word.startsWith("!")) {
    const test = wordTest(word.slice(1));
    return (process) => !test(process);
  }
  const [, kind, value = ""] = /^(ns|tag|label|state):(.*)$/s.exec(word) ?? [];
  switch (kind) {
    case "ns":
      return ({ namespace }) => namespace.toLowerCase().startsWith(value);
    case "tag":
      return ({ tags }) => tags.some((tag) => tag.toLowerCase().startsWith(value));
    case "label":
      return ({ config }) => hasLabel(config.labels, value);
    case "state":
      return ({ state }) => state.startsWith(value);
  }
  if (word === "all") return () => true;
  return ({ name, id, state, numeric_id }) =>
    name.toLowerCase().includes(word) || state === word || String(numeric_id) === word ||
    (word.length >= 4 && id.startsWith(word));
}

function hasLabel(labels: unknown, wanted: string): boolean {
  const [key = "", value] = wanted.split(/=(.*)/s);
  return Object.entries((labels ?? {}) as Record<string, string>).some(([name, is]) =>
    name.toLowerCase() === key && (value === undefined || is.toLowerCase().startsWith(value))
  );
}
