/** The logs of several processes as one stream of lines, ordered by time. */

import { BackwardLog } from "./backward_log.ts";
import type { LogEntry } from "./entry_cutter.ts";
import { type EntryOptions, LogEntries } from "./log_entries.ts";
import type { LogFiles } from "../write/log_files.ts";
import type { LogFilter } from "./log_filter.ts";
import { logEnd, readPosition } from "../write/log_position.ts";
import { Search, SEARCH_LIMITS } from "./search.ts";
import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import {
  type LogName,
  type LogPositions,
  type LogStart,
  positionKey,
  positionOf,
} from "../../model/log_line.ts";
import { LogMerge, type LogSlice } from "./merged_logs.ts";

export interface LogSource {
  readonly name: string;
  readonly files: LogFiles;
  /** Aborted when the process is gone: a followed log then ends. */
  readonly gone?: AbortSignal;
}

/** Processes that come, and get other names, while their logs are followed. */
export interface LaterSources {
  /** Reports changes until the returned function is called. */
  watch(changes: SourceChanges): () => void;
  /** Keeps the feed open until then, also when all of its processes are gone. */
  readonly until?: AbortSignal;
}

export interface SourceChanges {
  added(source: LogSource): void;
  /** The logs were moved, too. */
  renamed(before: string, source: LogSource): void;
}

/** Which lines of some logs are wanted. */
export interface LogQuery {
  readonly streams: readonly (keyof LogFiles)[];
  /** The newest lines of each process; 0 for all. */
  readonly lines?: number;
  /** The newest lines of all processes together; with `from`, the first ones. */
  readonly limit?: number | undefined;
  /** Only lines before these positions, such as `LogStart.before`. A log without one has none. */
  readonly before?: LogPositions | undefined;
  /** Lines from these positions on. A log without one is new. */
  readonly from?: LogPositions | undefined;
  readonly follow: boolean;
  /** Skip the lines that exist, unless positions are given. */
  readonly newOnly?: boolean | undefined;
  /** Level, pattern, and range of time. */
  readonly filter?: LogFilter | undefined;
  /** Whether a `LogStart` comes after the lines that exist. */
  readonly positions?: boolean;
  /** See `EntryOptions`. */
  readonly exact?: boolean | undefined;
  readonly gaps?: boolean | undefined;
  readonly unfinished?: boolean | undefined;
  /** Limits of the account that reads; none by default. */
  readonly limits?: FeedLimits;
}

interface Reader extends LogName {
  name: string;
  path: string;
  readonly gone?: AbortSignal | undefined;
  entries: LogEntries;
  /** Position of its first line that is wanted; undefined for the first that exists. */
  start?: number | undefined;
  /** Position before which it has older lines; undefined if there are none. */
  before?: number | undefined;
  /** Whether lines that exist are wanted. */
  isWanted: boolean;
}

export interface FeedLimits {
  /** Counts logs that are followed from now on. Throws `too_many_clients`. */
  claim(count: number): void;
  release(count: number): void;
  /** Does what reads much when it is the account's turn. */
  turn<T>(work: () => Promise<T>): Promise<T>;
}

const NO_LIMITS: FeedLimits = { claim: () => {}, release: () => {}, turn: (work) => work() };

/** Turns log lines into the items of a feed. */
export interface FeedForm<T> {
  /** Items for existing lines. */
  stored(slices: AsyncIterable<LogSlice>): AsyncIterable<T>;
  /** The item for new lines. */
  arrived(slice: LogSlice): T;
  /** The last item of a feed that failed. Without it the stream fails. */
  failed?(error: ProcsupError): T;
}

/** Maximum number of matching lines of each process before it is followed, if all are wanted. */
const MAX_BEFORE = 10_000;

/** How far back the newest lines of a log are looked for without a filter, in bytes. */
const MAX_BACK = 8 * 1024 * 1024;

/** Bytes that a feed reads ahead, of all its logs together, and at least of each. */
const AHEAD = { all: 256 * 1024, each: 4096 };

/**
 * Streams the lines of every source that exist, by time, and when following, new lines, also those of
 * `later` sources. It reads only as fast as the client: the log itself is the buffer. Throws
 * `too_many_clients`.
 */
export function logFeed<T>(
  sources: readonly LogSource[],
  options: LogQuery,
  form: FeedForm<T>,
  later?: LaterSources,
): ReadableStream<T | LogStart> {
  if (options.follow) options.limits?.claim(sources.length * options.streams.length);
  const { readable, writable } = new TransformStream<T | LogStart, T | LogStart>();
  const feed = new Feed(sources, options, form, writable.getWriter());
  void feed.run(options.follow ? later : undefined);
  return readable;
}

class Feed<T> implements SourceChanges {
  readonly #options: LogQuery;
  readonly #writer: WritableStreamDefaultWriter<T | LogStart>;
  readonly #form: FeedForm<T>;
  readonly #search = new Search(SEARCH_LIMITS);
  readonly #limits: FeedLimits;
  readonly #blockBytes: number;
  readonly #sources: readonly (readonly Reader[])[];
  /** The logs that are read: of all sources, and of later ones. */
  readonly #readers: Set<Reader>;
  readonly #pours = new Set<Promise<void>>();
  /** The logs in which the newest lines are being found. */
  #backward: readonly BackwardLog[] = [];
  /** Settles when there is nothing left to follow, or a log cannot be followed. */
  readonly #over = Promise.withResolvers<void>();
  /** True once the existing lines were sent. */
  #isPouring = false;
  #until: AbortSignal | undefined;
  /** True once the client is gone. */
  #isLeft = false;

  constructor(
    sources: readonly LogSource[],
    options: LogQuery,
    form: FeedForm<T>,
    writer: WritableStreamDefaultWriter<T | LogStart>,
  ) {
    // For a client that resumes, all of a log without a position is new.
    const resumes = Object.keys(options.from ?? {}).length > 0;
    this.#options = { ...options, newOnly: options.newOnly && !resumes };
    this.#limits = options.limits ?? NO_LIMITS;
    this.#blockBytes = Math.max(AHEAD.all / sources.length / options.streams.length, AHEAD.each);
    this.#writer = writer;
    this.#form = form;
    this.#sources = sources.map((source) =>
      this.#readersOf(source, (log) => startFor(options, log))
    );
    this.#readers = new Set(this.#sources.flat());
    // It may be rejected while existing lines are sent.
    this.#over.promise.catch(() => {});
  }

  #readersOf({ name, files, gone }: LogSource, startOf: (log: LogName) => LogStartFor): Reader[] {
    return this.#options.streams.map((stream) => {
      const [path, start] = [files[stream], startOf({ name, stream })];
      const { newOnly } = this.#options;
      const entries = this.#entriesAt(path, { from: start.from, newOnly });
      return { name, stream, gone, path, entries, isWanted: true, ...start };
    });
  }

  #entriesAt(path: string, options: EntryOptions): LogEntries {
    const { filter, exact, gaps, unfinished } = this.#options;
    return new LogEntries(path, {
      ...options,
      filter,
      search: filter && this.#search,
      exact,
      gaps,
      unfinished,
    });
  }

  async run(later: LaterSources | undefined): Promise<void> {
    this.#until = later?.until;
    const unwatch = later?.watch(this);
    // The client is gone: stop reading.
    this.#writer.closed.catch(() => {
      this.#isLeft = true;
      this.#over.resolve();
      this.#backward.forEach((log) => log.stop());
      this.#readers.forEach(({ entries }) => entries.stop());
    });
    try {
      if (!this.#options.newOnly) await this.#limits.turn(() => this.#skipToLast());
      for (const { entries } of this.#readers) entries.blockBytes = this.#blockBytes;
      await this.#send(this.#form.stored(this.#stored()));
      if (this.#options.positions) await this.#writer.write(this.#ends());
      if (this.#options.follow) await this.#pourAll();
      await this.#writer.close();
    } catch (error) {
      await this.#fail(error).catch(() => {});
    } finally {
      unwatch?.();
      for (const { entries } of this.#readers) entries.close();
      if (this.#options.follow) this.#limits.release(this.#readers.size);
    }
  }

  async #send(items: AsyncIterable<T>): Promise<void> {
    const iterator = items[Symbol.asyncIterator]();
    const next = () => this.#limits.turn(() => iterator.next());
    // Waiting for the client takes no turn.
    for (let item = await next(); !item.done; item = await next()) {
      await this.#writer.write(item.value);
    }
  }

  /** Follows the logs of a new process. Only what it writes is new. */
  added(source: LogSource): void {
    const readers = this.#readersOf(
      source,
      ({ stream }) => ({ from: endOf(source.files[stream]) }),
    );
    try {
      this.#limits.claim(readers.length);
    } catch (error) {
      return this.#over.reject(error);
    }
    for (const reader of readers) {
      reader.entries.blockBytes = this.#blockBytes;
      this.#readers.add(reader);
      if (this.#isPouring) this.#start(reader);
    }
  }

  /** Continues with the moved logs of a renamed process. */
  renamed(before: string, { name, files }: LogSource): void {
    for (const reader of this.#readers) {
      if (reader.name !== before || reader.gone?.aborted) continue;
      reader.name = name;
      reader.path = files[reader.stream];
      reader.entries.moved(reader.path);
    }
  }

  /** Sends the error in the stream: a stream that breaks off means that the daemon is gone. */
  async #fail(error: unknown): Promise<void> {
    if (this.#form.failed === undefined) return await this.#writer.abort(error);
    const known = error instanceof ProcsupError
      ? error
      : new ProcsupError("internal", `Cannot read the logs: ${messageOf(error)}`);
    await this.#writer.write(this.#form.failed(known));
    await this.#writer.close();
  }

  /** Finds where the newest lines begin, without holding them in memory. */
  async #skipToLast(): Promise<void> {
    const { lines = 0, limit, follow, filter, from = {} } = this.#options;
    const wantsAll = limit === undefined && lines === 0 && !(follow && filter !== undefined);
    // A client that resumes wants everything since, however much.
    if (Object.keys(from).length > 0 || wantsAll) return;
    const groups = limit === undefined ? this.#sources : [this.#sources.flat()];
    for (const readers of groups) {
      await this.#skipTo(readers, limit ?? (lines || MAX_BEFORE));
      if (this.#isLeft) throw new Error("The client is gone");
    }
  }

  async #skipTo(readers: readonly Reader[], count: number): Promise<void> {
    const { follow, filter, before } = this.#options;
    const logs = await Promise.all(readers.map(async (of) => {
      const position = before && (positionOf(before, of) ?? 0);
      const search = filter && this.#search;
      const log = new BackwardLog(of.path, {
        ...{ complete: !follow, filter, before: position, search },
        mostBytes: filter ? undefined : MAX_BACK,
      });
      // To follow a log, its end must be known.
      const latest = follow ? Infinity : await log.latest();
      return { of, log, lines: log.parts(), latest };
    }));
    this.#backward = logs.map(({ log }) => log);
    const merge = new LogMerge("newest first", logs);
    const oldest = new Map<Reader, LogEntry>();
    try {
      for (let left = count; left > 0 && !this.#isLeft;) {
        const slice = await merge.next(left);
        if (slice === undefined) break;
        left -= slice.entries.length;
        oldest.set(slice.of, slice.entries.at(-1)!);
      }
      for (const { of, log } of logs) {
        const first = oldest.get(of);
        const end = log.end ?? (before ? positionOf(before, of) : endOf(of.path));
        of.isWanted = first !== undefined;
        of.start = first?.start ?? end;
        of.before = merge.ahead(of)?.end ?? (log.end === undefined ? end : log.reached);
        // The log does not exist yet.
        if (follow && log.end === undefined) continue;
        of.entries.close();
        // Its path now: the log may have been moved meanwhile.
        of.entries = this.#entriesAt(of.path, {
          from: first?.meaning?.head ?? of.start,
          showFrom: of.start,
          to: follow ? undefined : end,
        });
      }
    } finally {
      logs.forEach(({ log }) => log.close());
      this.#backward = [];
    }
  }

  /** The lines that exist, by time. */
  async *#stored(): AsyncGenerator<LogSlice> {
    const { follow, limit, from } = this.#options;
    const readers = this.#sources.flat().filter(({ isWanted }) => isWanted);
    const merge = new LogMerge(
      "oldest first",
      readers.map((of) => ({ of, lines: of.entries.stored(!follow) })),
    );
    let left = from === undefined ? Infinity : limit ?? Infinity;
    for (let next = await merge.next(left); next !== undefined; next = await merge.next(left)) {
      left -= next.entries.length;
      next.of.start = next.entries.at(-1)!.end;
      yield next;
      if (left === 0) break;
    }
    for (const of of readers) {
      if (left > 0) of.start = of.entries.position ?? of.start;
    }
  }

  #ends(): LogStart {
    const readers = this.#sources.flat();
    const keyed = (positionIn: (of: Reader) => number | undefined) =>
      Object.fromEntries(readers.flatMap((of) => {
        const position = positionIn(of);
        return position === undefined ? [] : [[positionKey(of), position] as const];
      }));
    return { positions: keyed(({ start = 0 }) => start), before: keyed(({ before }) => before) };
  }

  /** Sends new lines until every process is gone and `LaterSources.until`, if given, is aborted. */
  async #pourAll(): Promise<void> {
    const look = () => this.#endIfOver();
    this.#until?.addEventListener("abort", look);
    this.#isPouring = true;
    this.#readers.forEach((reader) => this.#start(reader));
    this.#endIfOver();
    try {
      await this.#over.promise;
    } finally {
      this.#until?.removeEventListener("abort", look);
      this.#isPouring = false;
      // Do not close a file while it is being read.
      this.#readers.forEach(({ entries }) => entries.stop());
      await Promise.allSettled(this.#pours);
    }
  }

  #start(reader: Reader): void {
    const pour = this.#pour(reader).then(() => {
      reader.entries.close();
      this.#readers.delete(reader);
      this.#limits.release(1);
      this.#endIfOver();
    }, (error) => this.#over.reject(error)).finally(() => this.#pours.delete(pour));
    this.#pours.add(pour);
  }

  #endIfOver(): void {
    if (this.#readers.size === 0 && this.#until?.aborted !== false) this.#over.resolve();
  }

  async #pour(of: Reader): Promise<void> {
    const finish = () => of.entries.finish();
    if (of.gone?.aborted) finish();
    of.gone?.addEventListener("abort", finish);
    try {
      for await (const { entries } of of.entries.coming()) {
        await this.#writer.write(this.#form.arrived({ of, entries }));
      }
    } finally {
      of.gone?.removeEventListener("abort", finish);
    }
  }
}

/** Where the next line of a log begins. */
function endOf(log: string): number {
  // There is no file yet.
  return ifPossible(() => logEnd(log)) ?? readPosition(log).base;
}

type LogStartFor = Pick<Reader, "start" | "before"> & { readonly from?: number | undefined };

function startFor({ from }: LogQuery, log: LogName): LogStartFor {
  const position = from && positionOf(from, log);
  // Without one, the process came while the client was away: all of it is new.
  return position === undefined ? {} : { from: position, start: position, before: position };
}
