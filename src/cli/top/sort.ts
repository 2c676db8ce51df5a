/** The order of the apps. Pure. */

import { baseName } from "../../model/name.ts";
import { STATES_BY_URGENCY } from "../../model/process_info.ts";
import type { ProcessJson } from "../../protocol/wire.ts";

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
