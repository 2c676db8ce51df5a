/** Usage of processes and the host in the last two minutes, for the small charts. */

import { signal } from "@preact/signals";
import { now } from "../data/time_range.ts";

/** What charts show: CPU in percent, memory in bytes, and for the host the load of one minute. */
export type Figure = "cpu" | "memory" | "fds" | "threads" | "load";

/** A reading; unknown figures are missing. */
export interface Sample extends Readonly<Partial<Record<Figure, number>>> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Shares of the time in which it ran, and was healthy; undefined without measurement. */
  readonly up?: number | undefined;
  readonly healthy?: number | undefined;
}

/** How long readings are kept, and their minimum distance: pushes may come in quick succession. */
const KEPT_MS = 120_000;
const STEP_MS = 900;

/** Increases with every round of readings. Read it to render them. */
export const round = signal(0);

const samples = new Map<string, Sample[]>();

/** Key of the host's own readings. */
export const HOST = "";

/** Adds a reading of a process, by its id. */
export function record(key: string, sample: Sample): void {
  const list = samples.get(key) ?? [];
  samples.set(key, list);
  const last = list.at(-1);
  if (last !== undefined && sample.at - last.at < STEP_MS) return;
  list.push(sample);
  const old = list.findIndex(({ at }) => at > sample.at - KEPT_MS);
  if (old > 0) list.splice(0, old);
}

/** Adds earlier readings, the oldest first, before those of this page. */
export function prepend(key: string, past: readonly Sample[]): void {
  const list = samples.get(key) ?? [];
  const first = list[0]?.at ?? Infinity;
  samples.set(key, [...past.filter(({ at }) => at < first), ...list]);
}

export function recent(key: string, ms: number, end = now()): readonly Sample[] {
  return (samples.get(key) ?? []).filter(({ at }) => at >= end - ms);
}

/** Forgets processes that are gone. */
export function keepOnly(keys: ReadonlySet<string>): void {
  for (const key of samples.keys()) {
    if (key !== HOST && !keys.has(key)) samples.delete(key);
  }
}
