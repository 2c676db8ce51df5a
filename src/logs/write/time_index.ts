/**
 * When the content of a log was written. Apps write to their logs directly, so the log keeper notes
 * pairs of a time and the size of the log at that time. Content written between two notes in quick
 * succession gets the time of the second, so a burst has a single time; over longer gaps times are
 * interpolated. Positions are those of `log_position.ts`.
 */

import { ifPossible } from "../../model/errors.ts";
import { ifAny, ifAnyAsync } from "../../platform/files/stat.ts";
import { besideLog, refuseForeignFolder } from "./log_position.ts";

/** At time `at`, in milliseconds since the epoch, the log ended at position `end`. */
export interface TimeMark {
  readonly at: number;
  readonly end: number;
  /** Everything since the previous mark was written at this time. */
  readonly exact?: boolean;
}

const MARK_BYTES = 16;

/** How far the clock may have been set back. */
const DAY_MS = 24 * 3_600_000;

/** Beyond this the older half is thinned out. It is enough for a day of a busy log. */
const MAX_MARKS = 128 * 1024;

/** Added to the position of an exact mark in the file: positions are integers. */
const EXACT = 0.5;

/** The latest marks of a log that is being written, so that followers need no file. */
interface Recent {
  marks: TimeMark[];
  /** Number of last marks that are not saved yet. */
  unsaved: number;
}

const recents = new Map<string, Recent>();
const MAX_RECENT = 64;

/** Notes marks, to be saved by `saveMarks()`. */
export function addMarks(log: string, added: readonly TimeMark[]): void {
  const recent = recents.get(log) ?? { marks: [], unsaved: 0 };
  recents.set(log, recent);
  for (const mark of added) recent.marks.push(mark);
  recent.unsaved += added.length;
  if (recent.unsaved >= MAX_RECENT) saveMarks(log);
  if (recent.marks.length > 2 * MAX_RECENT) {
    recent.marks.splice(0, recent.marks.length - MAX_RECENT);
  }
}

/** Saves the noted marks of a log, if possible. */
export function saveMarks(log: string): void {
  const recent = recents.get(log);
  if (recent === undefined || recent.unsaved === 0) return;
  // If the folder is gone, so is the log. If the disk is full, they are saved later.
  ifPossible(() => {
    refuseForeignFolder(log);
    using file = Deno.openSync(besideLog(log, ".idx"), { append: true, create: true, mode: 0o600 });
    // The disk was full in the middle of a mark.
    const { size } = file.statSync();
    if (size % MARK_BYTES > 0) file.truncateSync(size - size % MARK_BYTES);
    file.writeSync(bytesOf(recent.marks.slice(-recent.unsaved)));
    recent.unsaved = 0;
  });
}

/** Saves and forgets the marks of a log that is no longer written. */
export function releaseMarks(log: string): void {
  saveMarks(log);
  recents.delete(log);
}

/** Returns a function that gives the time of a position from the last few seconds. */
export function recentTimes(log: string): (position: number) => number | undefined {
  const marks = recents.get(log)?.marks ?? [];
  let index = marks.length;
  return (position) => {
    while (index > 0 && marks[index - 1]!.end >= position) index--;
    while (index < marks.length && marks[index]!.end < position) index++;
    return index > 0 ? marks[index]?.at : undefined;
  };
}

/** Replaces all marks of a log by one: new content is no older than it. */
export function restartMarks(log: string, mark: TimeMark): void {
  recents.delete(log);
  Deno.writeFileSync(besideLog(log, ".idx"), bytesOf([mark]), { mode: 0o600 });
}

/** The last mark of a log; undefined if there is none. */
export function lastMark(log: string): TimeMark | undefined {
  const noted = recents.get(log)?.marks.at(-1);
  if (noted !== undefined) return noted;
  return ifAny(() => {
    using file = Deno.openSync(besideLog(log, ".idx"));
    const whole = Math.floor(file.statSync().size / MARK_BYTES) * MARK_BYTES;
    if (whole === 0) return undefined;
    file.seekSync(whole - MARK_BYTES, Deno.SeekMode.Start);
    const bytes = new Uint8Array(MARK_BYTES);
    file.readSync(bytes);
    return marksOf(bytes)[0];
  });
}

/**
 * All marks of a log, extended by the times of the file itself. It saves nothing: logs can be read
 * when the disk is full.
 */
export async function readTimeIndex(log: string, base: number): Promise<TimeIndex> {
  const saved = numbersOf(await ifAnyAsync(() => Deno.readFile(besideLog(log, ".idx"))));
  const info = await Deno.stat(log).catch(() => undefined);
  const end = info === undefined ? Infinity : base + info.size;
  const marks = possible(withRecent(log, possible(saved, end)), end);
  if (info === undefined) return new TimeIndex(marks);
  const [firstAt, firstEnd] = marks;
  const born = (info.birthtime ?? info.mtime)!.getTime();
  const before = firstEnd === undefined || firstEnd > base
    ? [Math.min(born, firstAt ?? born), Math.min(base, firstEnd ?? base)]
    : [];
  const lastEnd = marks.at(-1) ?? before[1]!;
  // With a log keeper running, unnoted content was written just now.
  const unnoted = recents.has(log) ? end + EXACT : end;
  const after = lastEnd < end ? [info.mtime!.getTime(), unnoted] : [];
  return new TimeIndex(joined(before, marks, after));
}

/** Adds the noted marks that are newer than the saved ones. */
function withRecent(log: string, saved: Float64Array): Float64Array {
  const [lastAt = -Infinity, lastEnd = -Infinity] = saved.slice(-2);
  const newer = recents.get(log)?.marks.filter(({ at, end }) => at > lastAt || end > lastEnd) ?? [];
  return joined([], saved, newer.flatMap(numbersIn));
}

/** Drops impossible marks of a damaged file: a single one would falsify all other times. */
function possible(marks: Float64Array, lastEnd: number): Float64Array {
  const latest = Date.now() + DAY_MS;
  const isPossible = (_: number, index: number) => {
    const [at, end] = [marks[index & ~1]!, marks[index | 1]!];
    return at >= 0 && at <= latest && end >= 0 && Math.floor(end) <= lastEnd;
  };
  return marks.every(isPossible) ? marks : marks.filter(isPossible);
}

/** Keeps the marks between two positions, and thins out the older half of too many. */
export function trimMarks(log: string, start: number, end: number): void {
  refuseForeignFolder(log);
  releaseMarks(log);
  const path = besideLog(log, ".idx");
  const all = marksOf(ifAny(() => Deno.readFileSync(path)));
  // The last mark before the start tells when the content after it began.
  const from = Math.max(0, all.findLastIndex((mark) => mark.end <= start));
  const kept = all.slice(from).filter((mark) => mark.end <= end);
  if (kept.length === all.length && kept.length <= MAX_MARKS) return;
  const thin = kept.length > MAX_MARKS ? thinned(kept) : kept;
  Deno.writeFileSync(`${path}.tmp`, bytesOf(thin), { mode: 0o600 });
  Deno.renameSync(`${path}.tmp`, path);
}

/** Drops every other mark of the older half: times between the rest are interpolated. */
function thinned(marks: readonly TimeMark[]): TimeMark[] {
  const half = marks.length / 2;
  return marks.filter((_, index) => index % 2 === 0 || index > half)
    .map(({ at, end, exact }, index) =>
      index > half / 2 && exact ? { at, end, exact } : { at, end }
    );
}

/** Offset of each half of a mark in the array. */
const [AT, END] = [0, 1];

/** Converts between times and positions of one log. Both increase. */
export class TimeIndex {
  /** Alternating times and positions: objects would take ten times the memory. */
  readonly #numbers: Float64Array;

  /** Takes over the array. */
  constructor(marks: readonly TimeMark[] | Float64Array) {
    this.#numbers = rising(
      marks instanceof Float64Array ? marks : Float64Array.from(marks.flatMap(numbersIn)),
    );
  }

  /** When the line that ends before a position was written. */
  timeAt(position: number): number {
    return Math.round(interpolate(this.#numbers, position));
  }

  /** Position before which everything is older than `at`. */
  positionAt(at: number): number {
    const index = firstAtLeast(this.#numbers, at, AT);
    // A mark may lie in the middle of a line, whose time is that of its end.
    return Math.floor(this.#numbers[2 * (index - 2) + END] ?? 0);
  }

  /** Position after which everything is newer than `at`; Infinity if nothing may be. */
  positionAfter(at: number): number {
    const index = firstAtLeast(this.#numbers, at + 1, AT);
    return Math.ceil(this.#numbers[2 * index + END] ?? Infinity);
  }
}

/** Makes times and positions increase, even if the clock was set back or the log truncated. */
function rising(numbers: Float64Array): Float64Array {
  for (let i = 2; i < numbers.length; i++) numbers[i] = Math.max(numbers[i]!, numbers[i - 2]!);
  return numbers;
}

function interpolate(numbers: Float64Array, position: number): number {
  const count = numbers.length / 2;
  if (count === 0) return Date.now();
  const index = firstAtLeast(numbers, position, END);
  const next = Math.min(index, count - 1);
  const [at, end] = [numbers[2 * next + AT]!, numbers[2 * next + END]!];
  if (index === 0 || index === count || end % 1 === EXACT) return at;
  const [atBefore, endBefore] = [
    numbers[2 * index - 2 + AT]!,
    Math.floor(numbers[2 * index - 2 + END]!),
  ];
  if (end === endBefore) return at;
  return atBefore + (position - endBefore) / (end - endBefore) * (at - atBefore);
}

/** Index of the first mark whose time (or position) is not less than a value. */
function firstAtLeast(numbers: Float64Array, value: number, half: number): number {
  let low = 0;
  let high = numbers.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[2 * middle + half]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function numbersIn({ at, end, exact }: TimeMark): [at: number, end: number] {
  return [at, exact ? end + EXACT : end];
}

function bytesOf(marks: readonly TimeMark[]): Uint8Array {
  return new Uint8Array(new Float64Array(marks.flatMap(numbersIn)).buffer);
}

function marksOf(bytes: Uint8Array | undefined): TimeMark[] {
  const numbers = numbersOf(bytes);
  return Array.from({ length: numbers.length / 2 }, (_, i) => {
    const [at, end] = [numbers[2 * i]!, numbers[2 * i + 1]!];
    return end % 1 === EXACT ? { at, end: Math.floor(end), exact: true } : { at, end };
  });
}

/** Alternating times and positions; none without a file. */
function numbersOf(bytes: Uint8Array = new Uint8Array()): Float64Array {
  const count = Math.floor(bytes.length / MARK_BYTES);
  return new Float64Array(bytes.slice(0, count * MARK_BYTES).buffer);
}

function joined(
  before: readonly number[],
  marks: Float64Array,
  after: readonly number[],
): Float64Array {
  const all = new Float64Array(before.length + marks.length + after.length);
  all.set(before);
  all.set(marks, before.length);
  all.set(after, before.length + marks.length);
  return all;
}
