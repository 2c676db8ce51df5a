/**
 * What processes and the host used: the last minutes exactly, a day roughly. What was before this page
 * comes from the daemon's metrics history.
 */

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

/** How long readings are kept, and how far apart they are. The first ring that is long enough is read. */
const RINGS = [
  { kept: 15 * 60_000, step: 900 },
  { kept: 60 * 60_000, step: 10_000 },
  { kept: 24 * 60 * 60_000, step: 120_000 },
] as const;

/** Grows with every round of readings: what shows them subscribes to it. */
export const round = signal(0);

const samples = new Map<string, Sample[][]>();
const marks = new Map<string, Mark[]>();

/** Key of the host's own readings. */
export const HOST = "";

/** Notes a reading of a process, by its id. */
export function record(key: string, sample: Sample): void {
  const rings = samples.get(key) ?? RINGS.map((): Sample[] => []);
  samples.set(key, rings);
  RINGS.forEach(({ kept, step }, index) => {
    const list = rings[index]!;
    const last = list.at(-1);
    // Pushes on change come thick and fast; one a second is enough.
    if (last !== undefined && sample.at - last.at < step) return;
    list.push(sample);
    const old = list.findIndex(({ at }) => at > sample.at - kept);
    if (old > 0) list.splice(0, old);
  });
}

/** Puts readings, the oldest first, before those that this page has taken. */
export function prepend(key: string, past: readonly Sample[], now = Date.now()): void {
  const rings = samples.get(key) ?? RINGS.map((): Sample[] => []);
  samples.set(key, rings);
  RINGS.forEach(({ kept, step }, index) => {
    const first = rings[index]![0]?.at ?? Infinity;
    let last = -Infinity;
    const older = past.filter(({ at }) => {
      if (at <= now - kept || at >= first || at - last < step) return false;
      last = at;
      return true;
    });
    rings[index]!.unshift(...older);
  });
}

/** The readings of the last `ms` milliseconds. */
export function recent(key: string, ms: number, now = Date.now()): readonly Sample[] {
  const list = samples.get(key)?.at(RINGS.findIndex(({ kept }) => kept >= ms)) ?? [];
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
