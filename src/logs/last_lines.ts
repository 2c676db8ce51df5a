/** The end of a log, found from its end: what it costs depends on what is asked, not on the file. */

import { LogCursor } from "./log_cursor.ts";
import type { LogEntries, LogEntry } from "./log_entries.ts";
import { startOfTail } from "./log_tail.ts";

/** Which part of a log is read. */
export interface TailBounds {
  /** Most bytes: of a longer end the beginning is missing. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Position in the log to begin at. */
  readonly from?: number | undefined;
  /** Position to end at, with a `count` of 0. */
  readonly until?: number | undefined;
}

/**
 * The last `count` lines of a log, byte for byte; with 0 as much of its end as `maxBytes` holds. What the
 * file does not hold is taken from its archives. Empty without a file.
 */
export async function lastLines(
  path: string,
  count: number,
  { maxBytes = 1024 * 1024, from = 0, until = Infinity }: TailBounds = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const cursor = new LogCursor(path);
  try {
    const span = await cursor.open();
    if (span === undefined) return new Uint8Array();
    // Another program has truncated it: all of it was written after that position.
    const wanted = from > span.end ? span.base : from;
    const end = Math.min(span.end, until);
    const floor = Math.min(end, Math.max(wanted, span.from, end - maxBytes));
    cursor.end = end;
    cursor.position = count > 0 ? await startOfTail(path, cursor, span, count, floor) : floor;
    return await readAll(cursor);
  } finally {
    cursor.close();
  }
}

async function readAll(cursor: LogCursor): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) chunks.push(chunk);
  return await new Blob(chunks).bytes();
}

/** The last lines of a file as text without line ends; bytes that are no UTF-8 become U+FFFD. */
export async function lastTextLines(
  path: string,
  count: number,
  bounds?: TailBounds,
): Promise<string[]> {
  const text = new TextDecoder().decode(await lastLines(path, count, bounds));
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // What stands after the last newline is no line when it is empty.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Where a line stands. */
export type LogPlace = Pick<LogEntry, "at" | "start">;

/**
 * The last lines, those that pass the filter; fewer when they have more than `maxChars`. `complete`
 * gives a last line without newline, too. What comes after them may be read on.
 */
export async function lastEntries(
  entries: LogEntries,
  { count, complete, maxChars }: { count: number; complete: boolean; maxChars: number },
): Promise<LogEntry[]> {
  const sizeOf = ({ line }: LogEntry) => line.length;
  return await last(
    entries,
    complete,
    (entry) => entry,
    () => new BoundedTail(sizeOf, count, maxChars),
  );
}

/** Where the last lines stand, without the lines. */
export async function lastPlaces(
  entries: LogEntries,
  { count, complete }: { count: number; complete: boolean },
): Promise<LogPlace[]> {
  const placeOf = ({ at, start }: LogEntry) => ({ at, start });
  return await last(entries, complete, placeOf, () => new BoundedTail(() => 0, count, Infinity));
}

async function last<T>(
  newest: LogEntries,
  complete: boolean,
  itemOf: (entry: LogEntry) => T,
  keep: () => BoundedTail<T>,
): Promise<T[]> {
  let kept = keep();
  await take(newest, complete, (entry) => kept.add(itemOf(entry)));
  for (let older = newest.older(); older !== undefined && !kept.isFull;) {
    const newer = kept.items;
    kept = keep();
    try {
      await take(older, true, (entry) => kept.add(itemOf(entry)));
    } finally {
      older.close();
    }
    newer.forEach((item) => kept.add(item));
    older = older.older();
  }
  return kept.items;
}

async function take(
  entries: LogEntries,
  complete: boolean,
  add: (entry: LogEntry) => void,
): Promise<void> {
  for await (const some of entries.stored(complete)) some.forEach(add);
}

/** Keeps the last of many. */
class BoundedTail<T> {
  readonly #sizeOf: (item: T) => number;
  readonly #count: number;
  readonly #maxSize: number;
  #kept: T[] = [];
  #first = 0;
  #size = 0;

  /** Keeps `count` at most, and of one that has `maxSize` alone that one. */
  constructor(sizeOf: (item: T) => number, count: number, maxSize: number) {
    this.#sizeOf = sizeOf;
    this.#count = count;
    this.#maxSize = maxSize;
  }

  /** What is kept, in its order. */
  get items(): T[] {
    return this.#kept.slice(this.#first);
  }

  /** Whether the next one takes the place of another. */
  get isFull(): boolean {
    return this.#kept.length - this.#first >= this.#count || this.#size >= this.#maxSize;
  }

  /** The next one. */
  add(item: T): void {
    const kept = this.#kept;
    kept.push(item);
    this.#size += this.#sizeOf(item);
    const left = () => kept.length - this.#first;
    while (left() > this.#count || (this.#size > this.#maxSize && left() > 1)) {
      this.#size -= this.#sizeOf(kept[this.#first++]!);
    }
    if (this.#first <= this.#count) return;
    kept.splice(0, this.#first);
    this.#first = 0;
  }
}
