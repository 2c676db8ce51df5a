/** Merges several logs by time. */

import type { LogName } from "../../model/log_line.ts";
import { BackwardLog, type BackwardOptions } from "./backward_log.ts";
import type { LogEntry } from "./entry_cutter.ts";

/** Consecutive lines of one log. */
export interface LogSlice<T extends LogName = LogName> {
  readonly of: T;
  readonly entries: readonly LogEntry[];
}

/** A log to merge, in one of the two orders of time. */
export interface MergedLog<T extends LogName> {
  readonly of: T;
  readonly lines: AsyncGenerator<readonly LogEntry[]>;
  /** With the newest first: no line is later, so that the log need not be opened before. */
  readonly latest?: number;
}

interface Head<T extends LogName> extends MergedLog<T> {
  entries: readonly LogEntry[];
  /** No further line comes before it, in the order of the merge. */
  bound: number;
}

/** The lines of all logs by time, with at most one chunk of each in memory. */
export class LogMerge<T extends LogName> {
  readonly #sign: 1 | -1;
  readonly #heads: Head<T>[];

  constructor(order: "oldest first" | "newest first", logs: readonly MergedLog<T>[]) {
    this.#sign = order === "oldest first" ? 1 : -1;
    this.#heads = logs.map((log) => ({
      ...{ ...log, entries: [] },
      bound: log.latest === undefined ? -Infinity : this.#sign * log.latest,
    }));
  }

  /** The next lines, at most that many; undefined at the end. */
  async next(most = Infinity): Promise<LogSlice<T> | undefined> {
    for (;;) {
      const [first, ...others] = this.#heads;
      if (first === undefined) return undefined;
      const head = others.reduce((one, other) => other.bound < one.bound ? other : one, first);
      if (head.entries.length > 0) return this.#take(head, most);
      const { value } = await head.lines.next();
      if (value === undefined) this.#heads.splice(this.#heads.indexOf(head), 1);
      else this.#setHead(head, value);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogSlice<T>> {
    for (let next = await this.next(); next !== undefined; next = await this.next()) yield next;
  }

  /** The line of a log that comes next, if it was read already. */
  ahead(of: T): LogEntry | undefined {
    return this.#heads.find((head) => head.of === of)?.entries[0];
  }

  #setHead(head: Head<T>, entries: readonly LogEntry[]): void {
    head.entries = entries;
    if (entries.length > 0) head.bound = this.#sign * entries[0]!.at;
  }

  #take(head: Head<T>, most: number): LogSlice<T> {
    const { of, entries } = head;
    const next = Math.min(...this.#heads.filter((one) => one !== head).map(({ bound }) => bound));
    const later = entries.findIndex(({ at }) => this.#sign * at > next);
    const count = Math.min(later < 0 ? entries.length : later, most);
    head.bound = this.#sign * entries[count - 1]!.at;
    this.#setHead(head, entries.slice(count));
    return { of, entries: entries.slice(0, count) };
  }
}

/** The lines of logs by time, the newest first. */
export async function* newestLines<T extends LogName & { readonly path: string }>(
  logs: readonly T[],
  options: BackwardOptions,
): AsyncGenerator<LogSlice<T>> {
  const read = await Promise.all(logs.map(async (of) => {
    const log = new BackwardLog(of.path, options);
    return { of, log, lines: log.parts(), latest: await log.latest() };
  }));
  try {
    yield* new LogMerge("newest first", read);
  } finally {
    read.forEach(({ log }) => log.close());
  }
}
