/** Reads the end of a log backward: the cost depends on what is wanted, not on the size of the file. */

import { continuesEntry } from "../../model/log_level.ts";
import { NEWLINE } from "./line_splitter.ts";
import { LogCursor } from "./log_cursor.ts";
import type { LogEntries, LogEntry } from "./log_entries.ts";
import { startOfTail } from "./log_tail.ts";

/** Limits of what is read. */
interface TailBounds {
  /** Maximum number of bytes; a longer tail loses its beginning. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Position to begin at. */
  readonly from?: number | undefined;
  /** Position to end at; only with a `count` of 0. */
  readonly until?: number | undefined;
}

/**
 * The last `count` lines of a log, byte for byte; with 0, the last `maxBytes`. Continues into the
 * archives if the file holds fewer. Empty if there is no file.
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
    // Another program truncated the log: all of it was written after that position.
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

/** The last lines of a log as text without line ends. Invalid UTF-8 becomes U+FFFD. */
export async function lastTextLines(
  path: string,
  count: number,
  bounds?: TailBounds,
): Promise<string[]> {
  const text = new TextDecoder().decode(await lastLines(path, count, bounds));
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // Empty text after the last newline is not a line.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** How far back the beginning of an entry is searched, in bytes. */
const MAX_ENTRY = 64 * 1024;

/** Where the entry begins that the line at a position may continue, such as a stack trace. */
export async function startOfEntry(path: string, position: number): Promise<number> {
  const before = await lastLines(path, 0, { until: position, maxBytes: MAX_ENTRY });
  const decoder = new TextDecoder();
  for (let end = before.length; end > 0;) {
    // A negative index would count from the end.
    const start = end === 1 ? 0 : before.lastIndexOf(NEWLINE, end - 2) + 1;
    // The line may have begun before what was read.
    if (start === 0 && before.length === MAX_ENTRY) return position - before.length + end;
    if (!continuesEntry(decoder.decode(before.subarray(start, end - 1)))) {
      return position - before.length + start;
    }
    end = start;
  }
  return position - before.length;
}

/** Position and time of a line. */
export type LogPlace = Pick<LogEntry, "at" | "start">;

/**
 * The last lines that pass the filter; fewer if they exceed `maxChars`. With `complete`, an unfinished
 * last line counts too. Reading can continue after them.
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

/** Like `lastEntries()`, but returns only where the lines are. */
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

/** Keeps the last items of many. */
class BoundedTail<T> {
  readonly #sizeOf: (item: T) => number;
  readonly #count: number;
  readonly #maxSize: number;
  #kept: T[] = [];
  #first = 0;
  #size = 0;

  /** Keeps up to `count` items with a total size of `maxSize`, but at least the last one. */
  constructor(sizeOf: (item: T) => number, count: number, maxSize: number) {
    this.#sizeOf = sizeOf;
    this.#count = count;
    this.#maxSize = maxSize;
  }

  /** The kept items in order. */
  get items(): T[] {
    return this.#kept.slice(this.#first);
  }

  /** Whether the next item replaces another. */
  get isFull(): boolean {
    return this.#kept.length - this.#first >= this.#count || this.#size >= this.#maxSize;
  }

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
