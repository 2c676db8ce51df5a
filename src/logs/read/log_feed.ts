/** The logs of several processes as one stream of lines, ordered by time. */

import { lastPlaces, type LogPlace, startOfEntry } from "./last_lines.ts";
import { type EntryOptions, LogEntries } from "./log_entries.ts";
import type { LogFiles } from "../write/log_files.ts";
import type { LogFilter } from "./log_filter.ts";
import { logEnd, readPosition } from "./log_position.ts";
import { Search, SEARCH_LIMITS } from "./search.ts";
import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import {
  type LogName,
  type LogPositions,
  type LogStart,
  positionKey,
  positionOf,
} from "../../model/log_line.ts";
import { type LogSlice, merged, type Reader } from "./merged_logs.ts";

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

export interface FeedOptions {
  /** Last lines of each process; 0 for all. */
  readonly lines: number;
  readonly follow: boolean;
  readonly streams: readonly (keyof LogFiles)[];
  /** Skip the lines that exist. */
  readonly newOnly?: boolean;
  readonly filter?: LogFilter | undefined;
  /** See `EntryOptions`. */
  readonly exact?: boolean | undefined;
  readonly unfinished?: boolean | undefined;
  /** Positions at which these logs resume. If set, every line carries its end position. */
  readonly from?: LogPositions;
}

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

/** Maximum number of logs followed at once by all clients: each holds open files. */
const MAX_FOLLOWED = 4096;
let followed = 0;

/**
 * Streams the existing lines of every source by time and, when following, new lines, also those of
 * `later` sources. With `from`, a `LogStart` comes between the two. It reads only as fast as the
 * client: the log itself is the buffer. Throws `too_many_clients`.
 */
export function logFeed<T>(
  sources: readonly LogSource[],
  options: FeedOptions,
  form: FeedForm<T>,
  later?: LaterSources,
): ReadableStream<T | LogStart> {
  if (options.follow) claim(sources.length * options.streams.length);
  const { readable, writable } = new TransformStream<T | LogStart, T | LogStart>();
  const feed = new Feed(sources, options, form, writable.getWriter());
  void feed.run(options.follow ? later : undefined);
  return readable;
}

/** Counts logs that are followed from now on. Throws `too_many_clients`. */
function claim(count: number): void {
  if (followed + count > MAX_FOLLOWED) {
    throw new ProcsupError("too_many_clients", `${followed} logs are being followed already`, {
      hint: "Follow fewer processes at once",
    });
  }
  followed += count;
}

class Feed<T> implements SourceChanges {
  readonly #options: FeedOptions;
  readonly #writer: WritableStreamDefaultWriter<T | LogStart>;
  readonly #form: FeedForm<T>;
  readonly #search = new Search(SEARCH_LIMITS);
  readonly #sources: readonly (readonly Reader[])[];
  /** The logs that are read: of all sources, and of later ones. */
  readonly #readers: Set<Reader>;
  readonly #pours = new Set<Promise<void>>();
  /** Settles when there is nothing left to follow, or a log cannot be followed. */
  readonly #over = Promise.withResolvers<void>();
  /** True once the existing lines were sent. */
  #isPouring = false;
  #until: AbortSignal | undefined;
  /** True once the client is gone. */
  #isLeft = false;

  constructor(
    sources: readonly LogSource[],
    options: FeedOptions,
    form: FeedForm<T>,
    writer: WritableStreamDefaultWriter<T | LogStart>,
  ) {
    this.#options = options;
    this.#writer = writer;
    this.#form = form;
    this.#sources = sources.map((source) =>
      this.#readersOf(source, (log) => entryOptions(options, log))
    );
    this.#readers = new Set(this.#sources.flat());
    // It may be rejected while existing lines are sent.
    this.#over.promise.catch(() => {});
  }

  #readersOf(
    { name, files, gone }: LogSource,
    optionsOf: (log: LogName) => EntryOptions,
  ): Reader[] {
    return this.#options.streams.map((stream) => {
      const path = files[stream];
      const { exact, unfinished } = this.#options;
      const options = { ...optionsOf({ name, stream }), search: this.#search, exact, unfinished };
      return { name, stream, gone, path, entries: new LogEntries(path, options) };
    });
  }

  async run(later: LaterSources | undefined): Promise<void> {
    this.#until = later?.until;
    const unwatch = later?.watch(this);
    // The client is gone: stop reading.
    this.#writer.closed.catch(() => {
      this.#isLeft = true;
      this.#over.resolve();
      this.#readers.forEach(({ entries }) => entries.stop());
    });
    try {
      if (!this.#options.newOnly) await this.#skipToLast();
      const readers = this.#sources.flat();
      const stored = merged(readers, !this.#options.follow);
      for await (const batch of this.#form.stored(stored)) await this.#writer.write(batch);
      if (this.#options.from !== undefined) await this.#writer.write(startOf(readers));
      if (this.#options.follow) await this.#pourAll();
      await this.#writer.close();
    } catch (error) {
      await this.#fail(error).catch(() => {});
    } finally {
      unwatch?.();
      for (const { entries } of this.#readers) entries.close();
      if (this.#options.follow) followed -= this.#readers.size;
    }
  }

  /** Follows the logs of a new process. Only what it writes is new. */
  added(source: LogSource): void {
    const { filter } = this.#options;
    const readers = this.#readersOf(source, ({ stream }) => {
      return { from: endOf(source.files[stream]), filter };
    });
    try {
      claim(readers.length);
    } catch (error) {
      return this.#over.reject(error);
    }
    for (const reader of readers) {
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

  /** Finds the last lines of each process in both its logs, without holding them in memory. */
  async #skipToLast(): Promise<void> {
    const { lines, follow, filter, from = {} } = this.#options;
    const wantsAll = lines === 0 && !(follow && filter !== undefined);
    // A client that resumes wants everything since, however much.
    if (Object.keys(from).length > 0 || wantsAll) return;
    for (const readers of this.#sources) {
      await this.#skipTo(readers, lines || MAX_BEFORE);
      if (this.#isLeft) throw new Error("The client is gone");
    }
  }

  async #skipTo(readers: readonly Reader[], count: number): Promise<void> {
    const { follow, filter, exact, unfinished } = this.#options;
    const all: (LogPlace & { readonly of: Reader })[] = [];
    for (const of of readers) {
      const places = await lastPlaces(of.entries, { count, complete: !follow });
      for (const { at, start } of places) all.push({ at, start, of });
    }
    const last = all.sort((one, other) => one.at - other.at).slice(-count);
    for (const of of readers) {
      const { position } = of.entries;
      // The log does not exist yet.
      if (position === undefined) continue;
      of.entries.close();
      const to = of.entries.end;
      const from = Math.min(
        ...last.filter((place) => place.of === of).map(({ start }) => start),
        to,
      );
      const start = follow ? Math.min(from, position) : from;
      const shown = filter?.byEntry
        ? { from: await startOfEntry(of.path, start), showFrom: start }
        : { from: start };
      // Its path now: the log may have been moved meanwhile.
      of.entries = new LogEntries(of.path, {
        ...shown,
        ...{ exact, unfinished },
        to: follow ? undefined : to,
        filter,
        search: filter && this.#search,
      });
    }
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
      followed--;
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

/** Reads as few lines as possible; with a filter, all must be read. */
function entryOptions(
  { lines, follow, newOnly, filter, from }: FeedOptions,
  log: LogName,
): EntryOptions {
  const resumed = from !== undefined && Object.keys(from).length > 0;
  const position = from && positionOf(from, log);
  // The process came while the client was away, or has written nothing: all of it is new.
  if (resumed && position === undefined) return { filter };
  return {
    from: position,
    // With a filter: search forward for all lines, backward when following.
    tail: lines || (follow && filter !== undefined ? MAX_BEFORE : 0),
    newOnly,
    filter,
  };
}

function startOf(readers: readonly Reader[]): LogStart {
  const positions = readers.map((of) => [positionKey(of), of.entries.position ?? 0] as const);
  return { positions: Object.fromEntries(positions) };
}
