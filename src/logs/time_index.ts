/**
 * When what was written to a log, although nobody stands between an app and its log: pairs of a time
 * and the log's end at that time, noted by whoever looks at the log. Between two pairs the time is
 * interpolated, so it is as exact as the looks were frequent: a second for a log that is being
 * written to. Positions outlive rotations, see `log_position.ts`.
 */

import { besideLog } from "./log_position.ts";

/** At that time (milliseconds since the epoch) the log ended at that position. */
export interface TimeMark {
  readonly at: number;
  readonly end: number;
}

const MARK_BYTES = 16;

/** More than these, and the older half is thinned out: a day of a log that is never silent. */
const MAX_MARKS = 128 * 1024;

/** Adds marks to a log's index. */
export function addMarks(log: string, marks: readonly TimeMark[]): void {
  Deno.writeFileSync(besideLog(log, ".idx"), bytesOf(marks), { append: true, mode: 0o600 });
}

/** The last mark of a log's index, if there is one. */
export function lastMark(log: string): TimeMark | undefined {
  const path = besideLog(log, ".idx");
  try {
    using file = Deno.openSync(path);
    const whole = Math.floor(file.statSync().size / MARK_BYTES) * MARK_BYTES;
    if (whole === 0) return undefined;
    file.seekSync(whole - MARK_BYTES, Deno.SeekMode.Start);
    const bytes = new Uint8Array(MARK_BYTES);
    file.readSync(bytes);
    return marksOf(bytes)[0];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Every mark of a log, with what the file itself tells about before and after them. */
export async function readTimeIndex(log: string, base: number): Promise<TimeIndex> {
  const marks = marksOf(await bytesIfAny(besideLog(log, ".idx")));
  const info = await Deno.stat(log).catch(() => undefined);
  if (info === undefined) return new TimeIndex(marks);
  const end = base + info.size;
  const first = marks[0];
  if (first === undefined || first.end > base) {
    const born = (info.birthtime ?? info.mtime)!.getTime();
    marks.unshift({
      at: Math.min(born, first?.at ?? born),
      end: Math.min(base, first?.end ?? base),
    });
  }
  if (marks.at(-1)!.end < end) marks.push({ at: info.mtime!.getTime(), end });
  return new TimeIndex(marks);
}

/** Keeps the marks from position `start` to `end`, and thins out the older half of too many. */
export function trimMarks(log: string, start: number, end: number): void {
  const path = besideLog(log, ".idx");
  const all = marksOf(readIfAny(path));
  // The last one before the start says when what follows it began.
  const from = Math.max(0, all.findLastIndex((mark) => mark.end <= start));
  const kept = all.slice(from).filter((mark) => mark.end <= end);
  if (kept.length === all.length && kept.length <= MAX_MARKS) return;
  const thin = kept.length > MAX_MARKS
    ? kept.filter((_, index) => index % 2 === 0 || index > kept.length / 2)
    : kept;
  Deno.writeFileSync(`${path}.tmp`, bytesOf(thin), { mode: 0o600 });
  Deno.renameSync(`${path}.tmp`, path);
}

/** Times and positions of one log, each from the other. Both grow. */
export class TimeIndex {
  readonly #marks: readonly TimeMark[];

  constructor(marks: readonly TimeMark[]) {
    this.#marks = rising(marks);
  }

  /** When the line that ends before a position was written. */
  timeAt(position: number): number {
    return Math.round(interpolate(this.#marks, position, "end", "at"));
  }

  /** Position before which every line, and part of a line, is older than `at`. */
  positionAt(at: number): number {
    const index = firstAtLeast(this.#marks, at, "at");
    // A mark may stand in the middle of a line, which is as old as its end.
    return this.#marks[index - 2]?.end ?? 0;
  }
}

/** A clock that was set back, or a log that was truncated by somebody, must not confuse the search. */
function rising(marks: readonly TimeMark[]): TimeMark[] {
  let at = -Infinity;
  let end = -Infinity;
  return marks.map((mark) => ({
    at: at = Math.max(at, mark.at),
    end: end = Math.max(end, mark.end),
  }));
}

function interpolate(
  marks: readonly TimeMark[],
  value: number,
  from: keyof TimeMark,
  to: keyof TimeMark,
): number {
  const index = firstAtLeast(marks, value, from);
  const next = marks[index] ?? marks.at(-1);
  if (next === undefined) return Date.now();
  const before = marks[index - 1];
  if (before === undefined || index === marks.length || next[from] === before[from]) {
    return next[to];
  }
  const part = (value - before[from]) / (next[from] - before[from]);
  return before[to] + part * (next[to] - before[to]);
}

function firstAtLeast(marks: readonly TimeMark[], value: number, key: keyof TimeMark): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]![key] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bytesOf(marks: readonly TimeMark[]): Uint8Array {
  return new Uint8Array(new Float64Array(marks.flatMap(({ at, end }) => [at, end])).buffer);
}

function marksOf(bytes: Uint8Array): TimeMark[] {
  const count = Math.floor(bytes.length / MARK_BYTES);
  const numbers = new Float64Array(bytes.slice(0, count * MARK_BYTES).buffer);
  return Array.from(
    { length: count },
    (_, i) => ({ at: numbers[2 * i]!, end: numbers[2 * i + 1]! }),
  );
}

function readIfAny(path: string): Uint8Array {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Uint8Array();
    throw error;
  }
}

async function bytesIfAny(path: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Uint8Array();
    throw error;
  }
}
