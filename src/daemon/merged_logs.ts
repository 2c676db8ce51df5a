/** Several logs as one, by time. */

import type { LogEntries, LogEntry } from "../logs/log_entries.ts";
import type { LogName } from "../model/log_line.ts";
import type { LogSlice } from "./log_batch.ts";

/** One log that is read. */
export interface Reader extends LogName {
  readonly path: string;
  entries: LogEntries;
}

/** How far a log has been given out. */
interface Head {
  readonly of: Reader;
  readonly rest: AsyncGenerator<readonly LogEntry[]>;
  entries: readonly LogEntry[];
}

/**
 * What is there of all logs, by time, holding no more than a block of each. `complete` gives last
 * lines without newline, too.
 */
export async function* merged(
  readers: readonly Reader[],
  complete: boolean,
): AsyncGenerator<LogSlice> {
  const heads: Head[] = [];
  for (const of of readers) {
    const rest = of.entries.stored(complete);
    const { value } = await rest.next();
    if (value) heads.push({ of, rest, entries: value });
  }
  while (heads.length > 0) {
    const head = heads.reduce((first, next) => firstAt(next) < firstAt(first) ? next : first);
    const count = countBefore(head, heads);
    yield { of: head.of, entries: head.entries.slice(0, count) };
    head.entries = head.entries.slice(count);
    if (head.entries.length > 0) continue;
    const { value } = await head.rest.next();
    if (value) head.entries = value;
    else heads.splice(heads.indexOf(head), 1);
  }
}

function firstAt({ entries }: Head): number {
  return entries[0]!.at;
}

/** How many lines of the head that is first come before those of all others. */
function countBefore(head: Head, heads: readonly Head[]): number {
  const others = heads.filter((other) => other !== head).map(firstAt);
  const next = Math.min(...others);
  const count = head.entries.findIndex(({ at }) => at > next);
  return count < 0 ? head.entries.length : count;
}
