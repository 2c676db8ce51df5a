/** What the apps and the machine used lately. Pure. */

import type { ProcessJson } from "../../protocol/process_json.ts";

/** Readings kept: five minutes of one a second. */
export const MAX_READINGS = 300;

/** Readings of one app, the newest last. */
export interface History {
  /** Percent of one core. */
  readonly cpu: readonly number[];
  /** Bytes. */
  readonly mem: readonly number[];
}

/** Readings by the app's id. */
export type Histories = ReadonlyMap<string, History>;

/** No readings. */
export const NO_HISTORY: History = { cpu: [], mem: [] };

/** The histories after one more reading; those of apps that are gone are gone. */
export function record(histories: Histories, processes: readonly ProcessJson[]): Histories {
  return new Map(processes.map(({ id, cpu_percent, memory_bytes }) => {
    const { cpu, mem } = histories.get(id) ?? NO_HISTORY;
    return [id, { cpu: push(cpu, cpu_percent), mem: push(mem, memory_bytes) }];
  }));
}

/** The readings with one more. */
export function push(values: readonly number[], value: number): readonly number[] {
  return [...values.slice(1 - MAX_READINGS), value];
}
