/**
 * The file of a process's metrics history: a header and two rings of fixed slots, one slot per 10
 * seconds for 24 hours and one per 2 minutes for 30 days. The position of a slot follows from its time.
 * Pure.
 */

type Combine = (values: readonly number[]) => number;

const last: Combine = (values) => values.at(-1)!;
const most: Combine = (values) => Math.max(...values);
const mean: Combine = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The figures of a slot in file order, each with the function that combines several slots. */
const FIELDS = {
  /** Percent of one core; for the host, of all cores. */
  cpu: mean,
  cpuMax: most,
  /** Bytes. */
  memory: mean,
  memoryMax: most,
  threads: mean,
  fds: mean,
  /** Load average over one minute, for the host only. */
  load: mean,
  restarts: last,
  /** Seconds. */
  uptime: last,
  /** 1 while it runs, otherwise 0. */
  up: mean,
  /** 1 while healthy, 0 while unhealthy. */
  health: mean,
} satisfies Record<string, Combine>;

const NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** Figures at one time; NaN means unknown. */
export type Sample = Readonly<Record<keyof typeof FIELDS, number>>;

/** A sample, and the start of its slot in milliseconds since the epoch. */
export interface Point {
  readonly at: number;
  readonly sample: Sample;
}

interface Ring {
  /** Milliseconds per slot. */
  readonly step: number;
  readonly slots: number;
  /** Byte position in the file. */
  readonly offset: number;
}

/** Words of 4 bytes in a slot: time in seconds, figures, checksum. */
const WORDS = NAMES.length + 2;

export const SLOT_BYTES = WORDS * 4;

export const HEADER_BYTES = 16;

/** 24 hours. */
export const FINE: Ring = { step: 10_000, slots: 8640, offset: HEADER_BYTES };

/** 30 days. */
export const COARSE: Ring = {
  step: 120_000,
  slots: 21_600,
  offset: FINE.offset + FINE.slots * SLOT_BYTES,
};

export const RING_FILE_BYTES: number = COARSE.offset + COARSE.slots * SLOT_BYTES;

const MAGIC = new TextEncoder().encode("procsup ring");
const FORMAT = 1;

export function encodeHeader(format = FORMAT): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes.set(MAGIC);
  new DataView(bytes.buffer).setUint32(MAGIC.length, format, true);
  return bytes;
}

/** Whether the file is of a known format, of a newer one, or damaged. */
export function readHeader(bytes: Uint8Array<ArrayBuffer>): "known" | "newer" | "damaged" {
  const format = new DataView(bytes.buffer).getUint32(MAGIC.length, true);
  if (MAGIC.some((byte, index) => byte !== bytes[index]) || format === 0) return "damaged";
  return format > FORMAT ? "newer" : "known";
}

/** Start of the slot that contains a time. */
export function slotStart({ step }: Pick<Ring, "step">, at: number): number {
  return Math.floor(at / step) * step;
}

/** File position of the slot that contains a time. */
export function slotPosition({ step, slots, offset }: Ring, at: number): number {
  return offset + (Math.floor(at / step) % slots) * SLOT_BYTES;
}

export function encodeSlot({ at, sample }: Point): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(SLOT_BYTES));
  view.setUint32(0, at / 1000, true);
  NAMES.forEach((name, index) => view.setFloat32(4 * index + 4, sample[name], true));
  view.setUint32(SLOT_BYTES - 4, checksum(view, 0), true);
  return new Uint8Array(view.buffer);
}

/**
 * The points in consecutive slots, the first of which begins at `from`. Skips slots that are empty,
 * damaged or of an earlier round of the ring.
 */
export function decodeSlots(
  { step }: Pick<Ring, "step">,
  bytes: Uint8Array<ArrayBuffer>,
  from: number,
): Point[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points: Point[] = [];
  for (let slot = 0, start = 0; start + SLOT_BYTES <= bytes.length; slot++, start += SLOT_BYTES) {
    const at = from + slot * step;
    if (view.getUint32(start, true) * 1000 !== at) continue;
    if (view.getUint32(start + SLOT_BYTES - 4, true) !== checksum(view, start)) continue;
    const entries = NAMES.map((
      name,
      index,
    ) => [name, view.getFloat32(start + 4 * index + 4, true)]);
    points.push({ at, sample: Object.fromEntries(entries) as unknown as Sample });
  }
  return points;
}

/** FNV-1a over the words of a slot. */
function checksum(view: DataView, start: number): number {
  let hash = 0x811c9dc5;
  for (let word = 0; word < WORDS - 1; word++) {
    hash = Math.imul(hash ^ view.getUint32(start + 4 * word, true), 0x01000193);
  }
  return hash >>> 0;
}

/** Combines samples into one: means, maxima and last values of known figures. */
export function summarize(samples: readonly Sample[]): Sample {
  const figure = (name: (typeof NAMES)[number]) => {
    const known = samples.map((sample) => sample[name]).filter((value) => !Number.isNaN(value));
    return known.length === 0 ? NaN : FIELDS[name](known);
  };
  return Object.fromEntries(NAMES.map((name) => [name, figure(name)])) as unknown as Sample;
}

/** Combines points into steps of `step` milliseconds. Steps without points are left out. */
export function downsample(points: readonly Point[], step: number): Point[] {
  return [...Map.groupBy(points, ({ at }) => slotStart({ step }, at))]
    .map(([at, group]) => ({ at, sample: summarize(group.map(({ sample }) => sample)) }));
}

/** What to read for a range of time. All times in milliseconds. */
export interface Plan {
  readonly ring: Ring;
  /** Distance between points, a multiple of the ring's step. */
  readonly step: number;
  /** Start of the first point. */
  readonly since: number;
  /** End of the range. */
  readonly until: number;
}

/** How to answer a query with at most `points` points. */
export function plan(since: number, until: number, points: number, now: number): Plan {
  const oldest = (ring: Ring) => slotStart(ring, now) - (ring.slots - 1) * ring.step;
  const end = Math.min(until, now);
  // The first and the last point may cover only part of a step.
  const wanted = Math.max(0, end - since) / Math.max(1, points - 1);
  const isFine = since >= oldest(FINE) - FINE.step && wanted <= COARSE.step / 2;
  const ring = isFine ? FINE : COARSE;
  const begin = Math.max(since, oldest(ring));
  const least = Math.max(0, end - begin) / Math.max(1, points - 1);
  const step = Math.max(1, Math.ceil(least / ring.step)) * ring.step;
  return { ring, step, since: slotStart({ step }, begin), until: end };
}

/** A time without measurements, in milliseconds since the epoch. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The gaps between points, of two steps at least, that are in a range. Before the first, nothing is known. */
export function gapsIn(points: readonly Point[], { step, since, until }: Plan): readonly Gap[] {
  return points.slice(1).map(({ at }, index) => ({ from: points[index]!.at + step, to: at }))
    .filter(({ from, to }) => to - from >= 2 * step && to > since && from < until);
}

/**
 * The one or two regions of consecutive slots that cover a range of time, cut to the length of the
 * ring: their place in the file, and the start of the first slot.
 */
export function regions(ring: Ring, since: number, until: number) {
  const final = slotStart(ring, until);
  const first = Math.max(slotStart(ring, since), final - (ring.slots - 1) * ring.step);
  const found: { position: number; bytes: number; from: number }[] = [];
  for (let from = first, left = (final - first) / ring.step + 1; left > 0;) {
    const position = slotPosition(ring, from);
    const count = Math.min(left, ring.slots - (position - ring.offset) / SLOT_BYTES);
    found.push({ position, bytes: count * SLOT_BYTES, from });
    from += count * ring.step;
    left -= count;
  }
  return found;
}
