/** Reads a log as filtered lines with their times. */

import { type EmitLine, LineSplitter, NEWLINE, type SplitState } from "./line_splitter.ts";
import type { LogCursor, Span } from "./log_cursor.ts";
import type { LineMatcher, LogFilter } from "./log_filter.ts";
import { LogFollower } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";
import { Search } from "./search.ts";
import { lastPart, type LogPart, PART_BYTES } from "../write/archives.ts";
import { readTimeIndex, recentTimes, type TimeIndex } from "../write/time_index.ts";

export interface LogEntry {
  readonly line: string;
  /** When it was written, in milliseconds since the epoch, as exact as the time index. */
  readonly at: number;
  /** Position of its first byte, see `log_position.ts`. */
  readonly start: number;
  /** Position after it, from which a reader can resume. */
  readonly end: number;
  /** A piece of a line that is long or not finished yet, which the next entry continues. */
  readonly partial?: true;
  /** A character for each byte of the line but the `\n`; only with `exact`. */
  readonly bytes?: string;
}

export interface EntryOptions {
  /** Number of last lines (that pass the filter); undefined or 0 for all, including archives. */
  readonly tail?: number | undefined;
  /** Skip the lines that exist. */
  readonly newOnly?: boolean | undefined;
  /** Position to begin at; overrides the options above. */
  readonly from?: number | undefined;
  /** Existing lines before this position are read for what follows them, and left out. */
  readonly showFrom?: number | undefined;
  /** Position to end at, unless following. */
  readonly to?: number | undefined;
  readonly filter?: LogFilter | undefined;
  /** Whether lines come with their bytes. */
  readonly exact?: boolean | undefined;
  /** Whether an unfinished line is shown after a silence, as a `partial` one. */
  readonly unfinished?: boolean | undefined;
  /** Milliseconds between reads while following; default 200. */
  readonly pollMs?: number | undefined;
  /** The search that this reading is part of; default: one of its own without limits. */
  readonly search?: Search | undefined;
}

/** New lines, shared by all readers at the same position. Do not change it. */
export interface LogChunk {
  readonly entries: readonly LogEntry[];
  /** Position of a reader after it. */
  readonly position: number;
  readonly inode: string;
  readonly state: SplitState;
  readonly midLine: boolean;
}

/** An unfinished line, such as a prompt, is shown when nothing was added to it for that long. */
const SILENCE_MS = 100;

/** How far back the last lines are searched, in bytes. */
const MAX_BACK = 8 * 1024 * 1024;

/** The lines of one log: first those that exist, then new ones. */
export class LogEntries {
  #path: string;
  readonly #options: EntryOptions;
  readonly #follower: LogFollower;
  readonly #search: Search;
  /** Following is endless, so it has no limits. */
  readonly #following = new Search();
  readonly #matches: LineMatcher | undefined;
  readonly #splitter: LineSplitter;
  #index: TimeIndex | undefined;
  #part: LogPart | undefined;
  /** The part begins before this position. */
  #reach = Infinity;
  /** True while the next bytes are the rest of a line to skip. */
  #midLine = false;
  /** Position of the first line that was examined. */
  #firstLine: number | undefined;
  #finished = false;
  #leave = () => {};

  constructor(path: string, options: EntryOptions) {
    this.#path = path;
    this.#options = options;
    this.#splitter = new LineSplitter(options.exact);
    this.#search = options.search ?? new Search();
    this.#matches = options.filter?.matcher?.();
    this.#follower = new LogFollower(path, {
      follow: false,
      pollMs: options.pollMs,
      begin: (span, cursor) => this.#begin(span, cursor),
      lends: true,
    });
  }

  /** Position after the last whole line that was read; undefined while there is no file. */
  get position(): number | undefined {
    if (!this.#follower.isOpen) return undefined;
    return this.#follower.position - this.#splitter.waiting;
  }

  /** Position after the last byte that was read. */
  get end(): number {
    return this.#follower.position;
  }

  /** The existing lines in chunks, the oldest first. With `complete`, an unfinished last line counts too. */
  async *stored(complete: boolean): AsyncGenerator<readonly LogEntry[]> {
    const { filter } = this.#options;
    await filter?.ready();
    const { since = -Infinity, until = Infinity } = filter ?? {};
    for (let last = false; !last;) {
      const chunk = await this.#follower.next();
      last = chunk === undefined;
      if (last && !complete) break;
      const timeAt = (end: number) => this.#index?.timeAt(end) ?? Date.now();
      const inTime = this.#cut(chunk, timeAt, (at) => {
        last ||= at > until;
        return at >= since && at <= until;
      });
      this.#search.add(chunk?.length ?? 0);
      const wanted = this.#matches
        ? await this.#search.run(passing(inTime, this.#matches))
        : inTime;
      const { showFrom } = this.#options;
      const shown = showFrom === undefined
        ? wanted
        : wanted?.filter(({ start }) => start >= showFrom);
      if (shown?.length) yield shown;
    }
    this.#index = undefined;
  }

  /**
   * The reader for the part before the lines that `stored()` returned, when searching the last lines
   * that pass a filter. Undefined if nothing is left.
   */
  older(): LogEntries | undefined {
    if (this.#part === undefined || this.#part.isFirst) return undefined;
    const { start, end } = this.#part;
    const first = this.#firstLine ?? end;
    if (first < end) return this.#upTo(first, first);
    // No line begins in this part: it continues a line of an earlier part.
    const longer = this.#upTo(end, start);
    if (end - start >= PART_BYTES) longer.#part = this.#part;
    return longer;
  }

  #upTo(to: number, reach: number): LogEntries {
    const older = new LogEntries(this.#path, { ...this.#options, search: this.#search, to });
    older.#reach = reach;
    return older;
  }

  /** New lines, until stopped or finished. */
  async *coming(): AsyncGenerator<LogChunk> {
    const { filter } = this.#options;
    await filter?.ready();
    this.#follower.follow();
    if (this.#finished) this.#follower.finish();
    while (!this.#follower.isStopped) {
      const isLast = this.#finished;
      const chunk = await (isLast ? this.#readRest() : this.#next());
      if (chunk === undefined && isLast) return;
      if (chunk === undefined) continue;
      if (this.#matches === undefined) {
        if (chunk.entries.length > 0) yield chunk;
        continue;
      }
      const entries = await this.#following.run(passing(chunk.entries, this.#matches));
      if (entries?.length) yield { ...chunk, entries };
    }
  }

  /** Continues at the new path of a log that was moved. */
  moved(path: string): void {
    this.#path = path;
    this.#follower.moved(path);
  }

  /** Ends after the lines that exist now. */
  finish(): void {
    this.#finished = true;
    this.#follower.finish();
    this.#leave();
  }

  /** Ends all waiting. */
  stop(): void {
    this.#follower.stop();
    this.#search.stop();
    this.#following.stop();
    this.#leave();
  }

  close(): void {
    this.#follower.close();
  }

  /** Reads new lines, or shares those of another reader at the same position. */
  async #next(): Promise<LogChunk | undefined> {
    // It must first find its own start.
    if (!this.#follower.hasBegun) return await this.#read();
    const { inode, position } = this.#follower;
    const { rest, begun } = this.#splitter.state;
    const { exact, unfinished } = this.#options;
    const place = [
      this.#path,
      inode,
      position,
      rest.length,
      begun,
      this.#midLine,
      exact,
      unfinished,
    ]
      .join("\n");
    const { found, isOwn } = await singleFlight(
      place,
      () => this.#read(),
      (leave) => this.#leave = leave,
    );
    if (!isOwn && found !== undefined && !this.#follower.isStopped) this.#goTo(found);
    return found;
  }

  #goTo({ position, inode, state, midLine }: LogChunk): void {
    this.#follower.skipTo(position, inode);
    this.#splitter.state = state;
    this.#midLine = midLine;
  }

  async #read(): Promise<LogChunk | undefined> {
    const waits = this.#options.unfinished && this.#matches === undefined &&
      this.#splitter.unfinished > 0;
    const { inode } = this.#follower;
    const chunk = await this.#follower.next(waits ? SILENCE_MS : undefined);
    if (chunk === undefined) return waits ? this.#unfinished(inode) : undefined;
    const now = Date.now();
    const times = recentTimes(this.#path);
    return this.#chunkOf(this.#cut(chunk, (end) => times(end) ?? now));
  }

  /** What there is of a line that was not continued for a while; undefined if it is not shown yet. */
  #unfinished(inode: string): LogChunk | undefined {
    if (this.#finished || this.#follower.isStopped) return undefined;
    const entries: LogEntry[] = [];
    const start = this.#follower.position - this.#splitter.waiting;
    this.#splitter.flush(this.#follower.position, (line, end, _partial, bytes) => {
      entries.push({ line, at: Date.now(), start, end, partial: true, ...(bytes && { bytes }) });
    });
    return entries.length === 0 ? undefined : this.#chunkOf(entries, inode);
  }

  #chunkOf(entries: readonly LogEntry[], inode = this.#follower.inode): LogChunk {
    const { position } = this.#follower;
    return { entries, position, inode, state: this.#splitter.state, midLine: this.#midLine };
  }

  /** Like `#read()`, and at the end returns an unfinished last line. */
  async #readRest(): Promise<LogChunk | undefined> {
    const { inode } = this.#follower;
    const chunk = await this.#read();
    if (chunk !== undefined || this.#splitter.waiting === 0) return chunk;
    return this.#chunkOf(this.#cut(undefined, () => Date.now()), inode);
  }

  #cut(
    chunk: Uint8Array | undefined,
    timeAt: (end: number) => number,
    isInTime: (at: number) => boolean = () => true,
  ): LogEntry[] {
    const bytes = chunk && this.#afterNewline(chunk);
    const { position } = this.#follower;
    let start = position - (bytes?.length ?? 0) - this.#splitter.waiting;
    const entries: LogEntry[] = [];
    const emit: EmitLine = (line, end, partial, bytes) => {
      const at = timeAt(end);
      if (isInTime(at)) {
        const more = { ...(partial && { partial }), ...(bytes !== undefined && { bytes }) };
        entries.push({ line, at, start, end, ...more });
      }
      start = end;
    };
    if (bytes === undefined) this.#splitter.end(position, emit);
    else this.#splitter.add(bytes, position, emit);
    this.#follower.giveBack();
    return entries;
  }

  #afterNewline(chunk: Uint8Array): Uint8Array {
    if (!this.#midLine) return chunk;
    const newline = chunk.indexOf(NEWLINE);
    if (newline >= 0) this.#midLine = false;
    if (newline >= 0) this.#firstLine = this.#follower.position - chunk.length + newline + 1;
    return chunk.subarray(newline < 0 ? chunk.length : newline + 1);
  }

  async #begin(span: Span, cursor: LogCursor): Promise<number> {
    const { newOnly, from, to } = this.#options;
    if (to !== undefined) cursor.end = Math.min(cursor.end, to);
    if (newOnly && from === undefined) return span.end;
    this.#index = await cursor.consistently((base) => readTimeIndex(this.#path, base));
    return from ?? await this.#firstWanted(span, cursor, this.#index);
  }

  async #firstWanted(span: Span, cursor: LogCursor, index: TimeIndex): Promise<number> {
    const { tail = 0, filter, to = Infinity } = this.#options;
    if (this.#part !== undefined) return this.#beginAt(this.#part.start);
    if (filter === undefined && tail > 0) {
      const floor = Math.max(span.from, span.end - MAX_BACK);
      return await startOfTail(this.#path, cursor, span, tail, floor);
    }
    const since = filter?.since === undefined ? undefined : index.positionAt(filter.since);
    const from = Math.max(since ?? 0, span.from);
    if (filter?.matcher === undefined || tail === 0) {
      return since === undefined ? this.#beginAt(from) : this.#afterLineAt(from);
    }
    const end = Math.min(span.end, to);
    const reach = { base: span.base, end: Math.min(end, this.#reach) };
    this.#part = { ...lastPart(this.#path, reach, from), end };
    const { start, isFirst } = this.#part;
    return isFirst && since === undefined ? this.#beginAt(start) : this.#afterLineAt(start);
  }

  #beginAt(position: number): number {
    return this.#firstLine = position;
  }

  /** Skips the line around a position, unless it begins there. */
  #afterLineAt(position: number): number {
    this.#midLine = position > 0;
    return this.#midLine ? position - 1 : this.#beginAt(position);
  }
}

function* passing(entries: readonly LogEntry[], matches: LineMatcher): Generator<void, LogEntry[]> {
  const wanted: LogEntry[] = [];
  for (const entry of entries) if (yield* matches(entry.line)) wanted.push(entry);
  return wanted;
}

type Take = (found: unknown) => void;

/**
 * Waiting readers by position. They share one read, so a log with a thousand followers is read and
 * split into lines only once.
 */
const waiting = new Map<string, Set<Take>>();

interface Found<T> {
  /** Undefined if the reader that looked gave up. */
  readonly found: T | undefined;
  /** True if the caller read it itself. */
  readonly isOwn: boolean;
}

/**
 * Runs `look` for a position, or waits for another caller that does. `onWait` receives a function that
 * ends the wait. Throws what the caller's own `look` throws; other callers then get undefined.
 */
export async function singleFlight<T>(
  place: string,
  look: () => Promise<T | undefined>,
  onWait: (leave: () => void) => void,
): Promise<Found<T>> {
  const others = waiting.get(place);
  if (others === undefined) return { found: await lookForAll(place, look), isOwn: true };
  const found = await new Promise<unknown>((resolve) => {
    others.add(resolve);
    onWait(() => {
      others.delete(resolve);
      resolve(undefined);
    });
  });
  return { found: found as T | undefined, isOwn: false };
}

async function lookForAll<T>(
  place: string,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const others = new Set<Take>();
  waiting.set(place, others);
  let found: T | undefined;
  try {
    return found = await look();
  } finally {
    waiting.delete(place);
    for (const take of others) take(found);
  }
}
