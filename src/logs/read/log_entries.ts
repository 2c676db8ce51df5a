/** Reads a log as filtered lines with their times. */

import { EntryCutter, type LogEntry, marksOf } from "./entry_cutter.ts";
import { NEWLINE, type SplitState } from "./line_splitter.ts";
import type { Gap, LogCursor, Span } from "./log_cursor.ts";
import type { LineMatcher, LogFilter } from "./log_filter.ts";
import { LogFollower } from "./log_follower.ts";
import { Search } from "./search.ts";
import { readTimeIndex, recentTimes, type TimeIndex } from "../write/time_index.ts";

export interface EntryOptions {
  /** Skip the lines that exist. */
  readonly newOnly?: boolean | undefined;
  /** Position to begin at; overrides the option above. Default: the first byte, in an archive. */
  readonly from?: number | undefined;
  /** Existing lines before this position are read for what follows them, and left out. */
  readonly showFrom?: number | undefined;
  /** Position to end at, unless following. */
  readonly to?: number | undefined;
  readonly filter?: LogFilter | undefined;
  /** Whether lines come with their bytes. */
  readonly exact?: boolean | undefined;
  /** Whether there is an entry for what was removed before it was read. */
  readonly gaps?: boolean | undefined;
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

/**
 * An unfinished line, such as a prompt, is shown when nothing was added to it for that long, or when it
 * is continued without an end.
 */
const SILENCE_MS = 100;

/** The lines of one log: first those that exist, then new ones. */
export class LogEntries {
  #path: string;
  readonly #options: EntryOptions;
  readonly #follower: LogFollower;
  readonly #search: Search;
  /** Following is endless, so it has no limits. */
  readonly #following = new Search();
  readonly #matches: LineMatcher | undefined;
  readonly #cutter: EntryCutter;
  #index: TimeIndex | undefined;
  #finished = false;
  #leave = () => {};

  constructor(path: string, options: EntryOptions) {
    this.#path = path;
    this.#options = options;
    this.#cutter = new EntryCutter(options.exact);
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
    return this.#follower.position - this.#cutter.splitter.waiting;
  }

  /** Maximum size of the chunks that are read from now on. */
  set blockBytes(bytes: number) {
    this.#follower.blockBytes = bytes;
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
      const found = this.#cut(chunk, timeAt);
      last ||= found.length > 0 && found.at(-1)!.at > until;
      const inTime = found.filter(({ at }) => at >= since && at <= until);
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
    const { rest, begun } = this.#cutter.splitter.state;
    const { exact, unfinished, gaps } = this.#options;
    const place = [
      this.#path,
      inode,
      position,
      this.#follower.gap?.from,
      rest.length,
      begun,
      this.#cutter.skips,
      exact,
      unfinished,
      gaps,
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
    this.#cutter.splitter.state = state;
    this.#cutter.skips = midLine;
  }

  async #read(): Promise<LogChunk | undefined> {
    const waits = this.#options.unfinished && this.#matches === undefined &&
      this.#cutter.splitter.unfinished > 0;
    const { inode } = this.#follower;
    const chunk = await this.#follower.next(waits ? SILENCE_MS : undefined);
    if (chunk === undefined) return waits ? this.#unfinished(inode) : undefined;
    const now = Date.now();
    const times = recentTimes(this.#path);
    const entries = this.#cut(chunk, (end) => times(end) ?? now);
    // A progress bar is never silent.
    const moved = waits && entries.length === 0 ? this.#unfinished(inode) : undefined;
    return moved ?? this.#chunkOf(entries);
  }

  /** What there is of a line that was not continued for a while; undefined if it is not shown yet. */
  #unfinished(inode: string): LogChunk | undefined {
    if (this.#finished || this.#follower.isStopped) return undefined;
    const entries: LogEntry[] = [];
    const start = this.#follower.position - this.#cutter.splitter.waiting;
    this.#cutter.splitter.flush(this.#follower.position, (line, end, piece) => {
      entries.push({ line, at: Date.now(), start, end, ...marksOf(piece) });
    });
    return entries.length === 0 ? undefined : this.#chunkOf(entries, inode);
  }

  #chunkOf(entries: readonly LogEntry[], inode = this.#follower.inode): LogChunk {
    const { position } = this.#follower;
    return {
      entries,
      position,
      inode,
      state: this.#cutter.splitter.state,
      midLine: this.#cutter.skips,
    };
  }

  /** Like `#read()`, and at the end returns an unfinished last line. */
  async #readRest(): Promise<LogChunk | undefined> {
    const { inode } = this.#follower;
    const chunk = await this.#read();
    if (chunk !== undefined || this.#cutter.splitter.waiting === 0) return chunk;
    return this.#chunkOf(this.#cut(undefined, () => Date.now()), inode);
  }

  #cut(chunk: Uint8Array | undefined, timeAt: (end: number) => number): LogEntry[] {
    const { position } = this.#follower;
    const gap = chunk && this.#follower.takeGap();
    const entries = gap === undefined
      ? this.#cutter.cut(chunk, position, timeAt)
      : this.#cutAfter(gap, chunk!, timeAt);
    this.#follower.giveBack();
    return entries;
  }

  /** The line that ends unfinished before a gap, an entry for the gap, and the lines after it. */
  #cutAfter(
    { from, isMidLine }: Gap,
    chunk: Uint8Array,
    timeAt: (end: number) => number,
  ): LogEntry[] {
    const { position } = this.#follower;
    const before = this.#cutter.cut(undefined, from, timeAt);
    const newline = isMidLine ? chunk.indexOf(NEWLINE) : -1;
    // The rest of a long line comes with later chunks.
    this.#cutter.skips = isMidLine && newline === -1;
    const kept = chunk.subarray(this.#cutter.skips ? chunk.length : newline + 1);
    const end = position - kept.length;
    const lost = end > from ? end - from : null;
    const told = { line: "", at: timeAt(end), start: from, end, lost };
    const after = this.#cutter.cut(kept, position, timeAt);
    return [...before, ...this.#options.gaps ? [told] : [], ...after];
  }

  async #begin(span: Span, cursor: LogCursor): Promise<number> {
    const { newOnly, from, to, filter } = this.#options;
    if (to !== undefined) cursor.end = Math.min(cursor.end, to);
    if (newOnly && from === undefined) return span.end;
    const index = await cursor.consistently((base) => readTimeIndex(this.#path, base));
    this.#index = index;
    if (from !== undefined) return from;
    const since = filter?.since === undefined ? 0 : index.positionAt(filter.since);
    if (since <= span.from) return span.from;
    // Skip the line around the position, unless it begins there.
    this.#cutter.skips = true;
    return since - 1;
  }
}

function* passing(entries: readonly LogEntry[], matches: LineMatcher): Generator<void, LogEntry[]> {
  const wanted: LogEntry[] = [];
  for (const entry of entries) {
    if (entry.lost !== undefined || (yield* matches(entry.line))) wanted.push(entry);
  }
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
