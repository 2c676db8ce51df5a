/** What processes and the host used over the last quarter of an hour, as this page saw it. */

import { signal } from "@preact/signals";

/** One reading. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
  readonly fds: number;
  readonly threads: number;
  /** Load of one minute; the host's only. */
  readonly load: number;
}

/** A mark on a chart: a start or an end. */
export interface Mark {
  readonly at: number;
  readonly kind: "start" | "end" | "failure";
  readonly text: string;
}

const KEPT_MS = 15 * 60_000;
const MAX_SAMPLES = 900;
const MIN_STEP_MS = 900;

/** Grows with every round of readings: what shows them subscribes to it. */
export const round = signal(0);

const samples = new Map<string, Sample[]>();
const marks = new Map<string, Mark[]>();

/** Key of the host's own readings. */
export const HOST = "";

/** Notes a reading of a process, by its id. */
export function record(key: string, sample: Sample): void {
  const list = samples.get(key) ?? [];
  const last = list.at(-1);
  // Pushes on change come thick and fast; one a second is enough.
  if (last !== undefined && sample.at - last.at < MIN_STEP_MS) return;
  list.push(sample);
  const old = list.findIndex(({ at }) => at > sample.at - KEPT_MS);
  if (old > 0 || list.length > MAX_SAMPLES) {
    list.splice(0, Math.max(old, list.length - MAX_SAMPLES));
  }
  samples.set(key, list);
}

/** The readings of the last `ms` milliseconds. */
export function recent(key: string, ms: number, now = Date.now()): readonly Sample[] {
  const list = samples.get(key) ?? [];
  const first = list.findIndex(({ at }) => at >= now - ms);
  return first < 0 ? [] : list.slice(first);
}

/** Notes a start or an end. */
export function addMark(key: string, mark: Mark): void {
  const list = marks.get(key) ?? [];
  if (list.some(({ at, kind }) => at === mark.at && kind === mark.kind)) return;
  marks.set(key, [...list.slice(-49), mark]);
}

/** Starts and ends of a process. */
export function marksOf(key: string): readonly Mark[] {
  return marks.get(key) ?? [];
}

/** Forgets processes that are gone. */
export function keepOnly(keys: ReadonlySet<string>): void {
  for (const key of samples.keys()) {
    if (key === HOST || keys.has(key)) continue;
    samples.delete(key);
    marks.delete(key);
  }
}
