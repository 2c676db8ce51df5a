/** The last lines of a log that are there. */

import { Last } from "./last.ts";
import type { LogEntries, LogEntry } from "./log_entries.ts";

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
  return await last(entries, complete, (entry) => entry, () => new Last(sizeOf, count, maxChars));
}

/** Where the last lines stand, without the lines. */
export async function lastPlaces(
  entries: LogEntries,
  { count, complete }: { count: number; complete: boolean },
): Promise<LogPlace[]> {
  const placeOf = ({ at, start }: LogEntry) => ({ at, start });
  return await last(entries, complete, placeOf, () => new Last(() => 0, count, Infinity));
}

async function last<T>(
  newest: LogEntries,
  complete: boolean,
  itemOf: (entry: LogEntry) => T,
  keep: () => Last<T>,
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
