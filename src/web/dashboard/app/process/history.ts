/** What processes and the host used, as this page saw it, and the one that it was loaded again from: the last minutes exactly, a day roughly. */

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

/** When the first reading was taken. */
export let openedAt = Date.now();

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

/** The readings of the last `ms` milliseconds. */
export function recent(key: string, ms: number, now = Date.now()): readonly Sample[] {
  // A page that is young has it all in the finest one.
  const needed = Math.min(ms, now - openedAt);
  const ring = RINGS.findIndex(({ kept }) => kept >= needed);
  const list = samples.get(key)?.at(ring) ?? [];
  const first = list.findIndex(({ at }) => at >= now - ms);
  return first < 0 ? [] : list.slice(first);
}

/** All readings. */
interface History {
  /** When the first was taken. */
  readonly since: number;
  /** Those of each key, as dense as they are kept. */
  readonly rings: readonly (readonly [string, Sample[][]])[];
}

/** All there are, the host's first. */
function history(): History {
  const rings = [...samples].sort(([a], [b]) => Number(b === HOST) - Number(a === HOST));
  return { since: openedAt, rings };
}

/** Goes on where another page ended. */
function restore({ since, rings }: History): void {
  openedAt = since;
  for (const [key, list] of rings) samples.set(key, list);
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

const KEY = "procsup.history";
/** A page that comes later would join what is far apart. */
const GOOD_FOR_MS = 60_000;
/** Browsers keep some five million; what does not fit begins anew. */
const MOST_CHARACTERS = 2_000_000;

type Reading = readonly [number, number, number, number, number, number];

/** What is written. */
interface Kept {
  readonly at: number;
  readonly since: number;
  /** By key; times are those since `since`. */
  readonly rings: readonly (readonly [string, readonly (readonly Reading[])[]])[];
}

/** Takes up what the page before left, and leaves it to the next one. */
export function keepHistory(): void {
  try {
    const known = unpack(sessionStorage.getItem(KEY) ?? "", Date.now());
    if (known !== undefined) restore(known);
  } catch {
    // It is not ours, or there is no storage: then it begins anew.
  }
  addEventListener("pagehide", () => {
    try {
      sessionStorage.setItem(KEY, pack(history(), Date.now()));
    } catch {
      // As above.
    }
  });
}

/** The history as text; the first of it when there is more than has room. */
export function pack({ since, rings }: History, at: number, most = MOST_CHARACTERS): string {
  const kept: string[] = [];
  let room = most;
  for (const [key, list] of rings) {
    const text = JSON.stringify([key, list.map((ring) => ring.map((one) => reading(one, since)))]);
    room -= text.length;
    if (room < 0) break;
    kept.push(text);
  }
  return `{"at":${at},"since":${since},"rings":[${kept}]}`;
}

/** The history in a text; undefined when it is too old. Throws for a text that is none. */
export function unpack(text: string, now: number): History | undefined {
  const { at, since, rings } = JSON.parse(text) as Kept;
  if (!(now - at < GOOD_FOR_MS)) return undefined;
  return {
    since,
    rings: rings.map(([key, list]) => [key, list.map((ring) => ring.map((r) => sample(r, since)))]),
  };
}

function reading({ at, cpu, memory, fds, threads, load }: Sample, since: number): Reading {
  return [at - since, Math.round(cpu * 10) / 10, memory, fds, threads, load];
}

function sample([at, cpu, memory, fds, threads, load]: Reading, since: number): Sample {
  return { at: at + since, cpu, memory, fds, threads, load };
}
