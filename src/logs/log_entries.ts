/** A log as lines that know when they were written, filtered. */

import { inCompany } from "./company.ts";
import { POLL_MS } from "./follow_log.ts";
import { Last } from "./last.ts";
import { type CutState, LineCutter } from "./line_cutter.ts";
import type { LogCursor, Span } from "./log_cursor.ts";
import type { LogFilter } from "./log_filter.ts";
import { LogFollower } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";
import { readTimeIndex, type TimeIndex } from "./time_index.ts";

/** One line. */
export interface LogEntry {
  readonly line: string;
  /** When it was written, in milliseconds since the epoch; as exact as the time index. */
  readonly at: number;
  /** Its position, see `log_position.ts`. */
  readonly start: number;
  /** Position after it: where a reader goes on that has it. */
  readonly end: number;
}

/** What is read of a log. */
export interface EntryOptions {
  /** The last lines (of those that pass the filter); undefined or 0 for all, archives included. */
  readonly tail?: number;
  /** Nothing of what is there. */
  readonly newOnly?: boolean;
  /** Position to begin at, whatever the others say. */
  readonly from?: number;
  /** Position to end at, unless it is followed. */
  readonly to?: number;
  readonly filter?: LogFilter;
}

/** Lines that came, for all who follow a log and have come as far. Not to be changed. */
export interface Arrival {
  readonly entries: readonly LogEntry[];
  /** Where it leaves a reader. */
  readonly position: number;
  readonly inode: string;
  readonly state: CutState;
  readonly midLine: boolean;
}

const NEWLINE = 10;

/** How far back the last lines are looked for, in bytes. */
const MAX_BACK = 8 * 1024 * 1024;

/** The lines of one log: those that are there, then those that come. */
export class LogEntries {
  readonly #path: string;
  readonly #options: EntryOptions;
  readonly #follower: LogFollower;
  readonly #cutter = new LineCutter();
  #index: TimeIndex | undefined;
  /** The first bytes are the end of a line that is not wanted. */
  #midLine = false;
  #finished = false;
  #leave = () => {};

  constructor(path: string, options: EntryOptions) {
    this.#path = path;
    this.#options = options;
    this.#follower = new LogFollower(path, {
      follow: false,
      pollMs: POLL_MS,
      begin: (span, cursor) => this.#begin(span, cursor),
      lends: true,
    });
  }

  /** Position after the last whole line that was read; undefined while there is no file. */
  get position(): number | undefined {
    if (!this.#follower.isOpen) return undefined;
    return this.#follower.position - this.#cutter.waiting;
  }

  /** Position after all that was read. */
  get end(): number {
    return this.#follower.position;
  }

  /**
   * The lines that are there, the oldest first, some at a time; `complete` gives a last line without
   * newline, too.
   */
  async *stored(complete: boolean): AsyncGenerator<readonly LogEntry[]> {
    const { filter } = this.#options;
    await filter?.ready();
    const { since = -Infinity, until = Infinity, matches = () => true } = filter ?? {};
    for (let last = false; !last;) {
      const chunk = await this.#follower.next();
      last = chunk === undefined;
      if (last && !complete) break;
      const timeAt = (end: number) => this.#index?.timeAt(end) ?? Date.now();
      const wanted = this.#cut(chunk, timeAt, (line, at) => {
        last ||= at > until;
        return at >= since && at <= until && matches(line);
      });
      if (wanted.length > 0) yield wanted;
    }
    this.#index = undefined;
  }

  /** The last lines of those that are there; fewer when they have more than `maxChars`. */
  async last(count: number, complete: boolean, maxChars: number): Promise<LogEntry[]> {
    const kept = new Last<LogEntry>(({ line }) => line.length, count, maxChars);
    for await (const entries of this.stored(complete)) entries.forEach((entry) => kept.add(entry));
    return kept.items;
  }

  /** Where the last lines of those that are there stand, without the lines. */
  async lastPlaces(count: number, complete: boolean): Promise<Pick<LogEntry, "at" | "start">[]> {
    const kept = new Last<Pick<LogEntry, "at" | "start">>(() => 0, count, Infinity);
    for await (const entries of this.stored(complete)) {
      for (const { at, start } of entries) kept.add({ at, start });
    }
    return kept.items;
  }

  /** The lines that come, until it is stopped or finished. Their time is that of their arrival here. */
  async *coming(): AsyncGenerator<Arrival> {
    const { filter } = this.#options;
    await filter?.ready();
    this.#follower.follow = !this.#finished;
    while (!this.#follower.isStopped) {
      const isLast = this.#finished;
      const arrival = await (isLast ? this.#readRest() : this.#next());
      if (arrival === undefined && isLast) return;
      if (arrival === undefined) continue;
      if (filter?.matches === undefined) {
        if (arrival.entries.length > 0) yield arrival;
        continue;
      }
      const entries = arrival.entries.filter(({ line }) => filter.matches!(line));
      if (entries.length > 0) yield { ...arrival, entries };
    }
  }

  /** Gives the lines up to the end of what is there, and no more. */
  finish(): void {
    this.#finished = true;
    this.#follower.finish();
    this.#leave();
  }

  /** Makes what waits for lines end. */
  stop(): void {
    this.#follower.stop();
    this.#leave();
  }

  /** Closes the file. */
  close(): void {
    this.#follower.close();
  }

  /** What comes, read by this or by another reader that has come as far. */
  async #next(): Promise<Arrival | undefined> {
    // It looks for its place by itself.
    if (!this.#follower.hasBegun) return await this.#read();
    const { inode, position } = this.#follower;
    const { rest, begun } = this.#cutter.state;
    const place = [this.#path, inode, position, rest.length, begun, this.#midLine].join("\n");
    const { found, isOwn } = await inCompany(
      place,
      () => this.#read(),
      (leave) => this.#leave = leave,
    );
    if (!isOwn && found !== undefined && !this.#follower.isStopped) this.#goTo(found);
    return found;
  }

  #goTo({ position, inode, state, midLine }: Arrival): void {
    this.#follower.skipTo(position, inode);
    this.#cutter.state = state;
    this.#midLine = midLine;
  }

  async #read(): Promise<Arrival | undefined> {
    const chunk = await this.#follower.next();
    if (chunk === undefined) return undefined;
    const at = Date.now();
    const entries = this.#cut(chunk, () => at);
    const { position, inode } = this.#follower;
    return { entries, position, inode, state: this.#cutter.state, midLine: this.#midLine };
  }

  /** The same, and in the end a last line without newline. */
  async #readRest(): Promise<Arrival | undefined> {
    const { inode } = this.#follower;
    const arrival = await this.#read();
    if (arrival !== undefined || this.#cutter.waiting === 0) return arrival;
    const entries = this.#cut(undefined, () => Date.now());
    const { position } = this.#follower;
    return { entries, position, inode, state: this.#cutter.state, midLine: this.#midLine };
  }

  /** What is not wanted is not made an object of: it would be most of all garbage. */
  #cut(
    chunk: Uint8Array | undefined,
    timeAt: (end: number) => number,
    isWanted: (line: string, at: number) => boolean = () => true,
  ): LogEntry[] {
    const bytes = chunk && this.#afterNewline(chunk);
    const { position } = this.#follower;
    let start = position - (bytes?.length ?? 0) - this.#cutter.waiting;
    const entries: LogEntry[] = [];
    const emit = (line: string, end: number) => {
      const at = timeAt(end);
      if (isWanted(line, at)) entries.push({ line, at, start, end });
      start = end;
    };
    if (bytes === undefined) this.#cutter.end(position, emit);
    else this.#cutter.add(bytes, position, emit);
    this.#follower.giveBack();
    return entries;
  }

  #afterNewline(chunk: Uint8Array): Uint8Array {
    if (!this.#midLine) return chunk;
    const newline = chunk.indexOf(NEWLINE);
    if (newline >= 0) this.#midLine = false;
    return chunk.subarray(newline < 0 ? chunk.length : newline + 1);
  }

  async #begin(span: Span, cursor: LogCursor): Promise<number> {
    const { newOnly, from, to } = this.#options;
    if (to !== undefined) cursor.end = Math.min(cursor.end, to);
    if (newOnly && from === undefined) return span.end;
    this.#index = await readTimeIndex(this.#path, span.base);
    return from ?? await this.#firstWanted(span, cursor, this.#index);
  }

  async #firstWanted(span: Span, cursor: LogCursor, index: TimeIndex): Promise<number> {
    const { tail = 0, filter } = this.#options;
    if (filter?.since !== undefined) {
      const start = Math.max(index.positionAt(filter.since), span.from);
      this.#midLine = start > 0;
      return Math.max(0, start - 1);
    }
    if (filter !== undefined || tail === 0) return span.from;
    const floor = Math.max(span.from, span.end - MAX_BACK);
    return await startOfTail(this.#path, cursor, span, tail, floor);
  }
}
