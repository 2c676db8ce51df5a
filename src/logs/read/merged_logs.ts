/** Merges several logs by time. */

import type { LogName } from "../../model/log_line.ts";
import type { LogEntries, LogEntry } from "./log_entries.ts";

/** Consecutive lines of one log. */
export interface LogSlice {
  readonly of: LogName;
  readonly entries: readonly LogEntry[];
}

export interface Reader extends LogName {
  name: string;
  path: string;
  readonly gone?: AbortSignal | undefined;
  entries: LogEntries;
}

/** The next lines of a log. */
interface Head {
  readonly of: Reader;
  readonly rest: AsyncGenerator<readonly LogEntry[]>;
  entries: readonly LogEntry[];
}

/**
 * Stored lines of all logs by time, with at most one block of each in memory. With `complete`, an
 * unfinished last line counts too.
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

/** How many entries of `head` come before those of all other logs. */
function countBefore(head: Head, heads: readonly Head[]): number {
  const others = heads.filter((other) => other !== head).map(firstAt);
  const next = Math.min(...others);
  const count = head.entries.findIndex(({ at }) => at > next);
  return count < 0 ? head.entries.length : count;
}
