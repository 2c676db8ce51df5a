/** A log as lines that know when they were written, filtered. */

import { POLL_MS } from "./follow_log.ts";
import { LineCutter } from "./line_cutter.ts";
import type { LogCursor } from "./log_cursor.ts";
import type { LogFilter } from "./log_filter.ts";
import { LogFollower, type Span } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";
import { readTimeIndex, type TimeIndex } from "./time_index.ts";

/** One line. */
export interface LogEntry {
  readonly line: string;
  /** When it was written, in milliseconds since the epoch; as exact as the time index. */
  readonly at: number;
}

/** What is read of a log. */
export interface EntryOptions {
  /** The last lines (of those that pass the filter); undefined or 0 for all, archives included. */
  readonly tail?: number;
  /** Nothing of what is there. */
  readonly newOnly?: boolean;
  readonly filter?: LogFilter;
}

const NEWLINE = 10;

/** Most that is kept of the last lines, in UTF-16 units, and looked at for them, in bytes. */
const MAX_KEPT = 8 * 1024 * 1024;

/** The lines of one log: those that are there, then those that come. */
export class LogEntries {
  readonly #path: string;
  readonly #options: EntryOptions;
  readonly #follower: LogFollower;
  readonly #cutter = new LineCutter();
  #index: TimeIndex | undefined;
  /** The first bytes are the end of a line that is not wanted. */
  #midLine = false;

  constructor(path: string, options: EntryOptions) {
    this.#path = path;
    this.#options = options;
    this.#follower = new LogFollower(path, {
      follow: false,
      pollMs: POLL_MS,
      begin: (span, cursor) => this.#begin(span, cursor),
    });
  }

  /** The lines that are there, the oldest first; `complete` gives a last line without newline, too. */
  async *stored(complete: boolean): AsyncGenerator<LogEntry> {
    const { filter } = this.#options;
    for (let last = false; !last;) {
      const chunk = await this.#follower.next();
      last = chunk === undefined;
      if (last && !complete) return;
      for (const [line, end] of this.#cut(chunk)) {
        const at = this.#index!.timeAt(end);
        if (filter?.until !== undefined && at > filter.until) return;
        if (filter?.since !== undefined && at < filter.since) continue;
        if (filter?.matches?.(line) ?? true) yield { line, at };
      }
    }
  }

  /** The last lines of those that are there; fewer when they are huge. */
  async last(count: number, complete: boolean): Promise<LogEntry[]> {
    const kept: LogEntry[] = [];
    let first = 0;
    let length = 0;
    for await (const entry of this.stored(complete)) {
      kept.push(entry);
      length += entry.line.length;
      while (kept.length - first > count || (length > MAX_KEPT && kept.length - first > 1)) {
        length -= kept[first++]!.line.length;
      }
      if (first > count) {
        kept.splice(0, first);
        first = 0;
      }
    }
    return kept.slice(first);
  }

  /** The lines that come, until it is stopped. Their time is that of their arrival here. */
  async *coming(): AsyncGenerator<LogEntry> {
    this.#follower.follow = true;
    for (;;) {
      const chunk = await this.#follower.next();
      if (chunk === undefined) return;
      const at = Date.now();
      for (const [line] of this.#cut(chunk)) {
        if (this.#options.filter?.matches?.(line) ?? true) yield { line, at };
      }
    }
  }

  /** Makes what waits for lines end. */
  stop(): void {
    this.#follower.stop();
  }

  /** Closes the file. */
  close(): void {
    this.#follower.close();
  }

  #cut(chunk: Uint8Array | undefined): [string, number][] {
    const lines: [string, number][] = [];
    const emit = (line: string, end: number) => void lines.push([line, end]);
    const bytes = chunk && this.#afterNewline(chunk);
    if (bytes === undefined) this.#cutter.end(this.#follower.position, emit);
    else this.#cutter.add(bytes, this.#follower.position, emit);
    return lines;
  }

  #afterNewline(chunk: Uint8Array): Uint8Array {
    if (!this.#midLine) return chunk;
    const newline = chunk.indexOf(NEWLINE);
    if (newline >= 0) this.#midLine = false;
    return chunk.subarray(newline < 0 ? chunk.length : newline + 1);
  }

  async #begin(span: Span, cursor: LogCursor): Promise<number> {
    const { tail = 0, newOnly, filter } = this.#options;
    this.#index = await readTimeIndex(this.#path, span.base);
    if (newOnly) return span.end;
    if (filter?.since !== undefined) {
      const start = this.#index.positionAt(filter.since);
      this.#midLine = start > 0;
      return Math.max(0, start - 1);
    }
    if (filter !== undefined || tail === 0) return 0;
    return await startOfTail(this.#path, cursor, span, tail, Math.max(0, span.end - MAX_KEPT));
  }
}
