/** The logs of several processes as one stream of lines, ordered by time. */

import { lastPlaces, type LogPlace, startOfEntry } from "./last_lines.ts";
import { type EntryOptions, LogEntries } from "./log_entries.ts";
import type { LogFiles } from "./log_files.ts";
import type { LogFilter } from "./log_filter.ts";
import { Search, SEARCH_LIMITS } from "./search.ts";
import { ProcsupError } from "../model/errors.ts";
import {
  type LogName,
  type LogPositions,
  type LogStart,
  positionKey,
  positionOf,
} from "../model/log_line.ts";
import { type LogSlice, merged, type Reader } from "./merged_logs.ts";

export interface LogSource {
  readonly name: string;
  readonly files: LogFiles;
  /** Aborted when the process is gone: a followed log then ends. */
  readonly gone?: AbortSignal;
}

export interface FeedOptions {
  /** Last lines of each process; 0 for all. */
  readonly lines: number;
  readonly follow: boolean;
  readonly streams: readonly (keyof LogFiles)[];
  /** Skip the lines that exist. */
  readonly newOnly?: boolean;
  readonly filter?: LogFilter | undefined;
  /** Positions at which these logs resume. If set, every line carries its end position. */
  readonly from?: LogPositions;
}

/** Turns log lines into the items of a feed. */
export interface FeedForm<T> {
  /** Items for existing lines. */
  stored(slices: AsyncIterable<LogSlice>): AsyncIterable<T>;
  /** The item for new lines. */
  arrived(slice: LogSlice): T;
  /** The last item of a feed that failed with an expected error. Without it the stream fails. */
  failed?(error: ProcsupError): T;
}

/** Maximum number of existing lines of each process before it is followed. */
const MAX_BEFORE = 10_000;

/** Maximum number of logs followed at once by all clients: each holds open files. */
const MAX_FOLLOWED = 4096;
let followed = 0;

/**
 * Streams the existing lines of every source by time and, when following, new lines. With `from`, a
 * `LogStart` comes between the two. It reads only as fast as the client: the log itself is the buffer.
 * Throws `too_many_clients`.
 */
export function logFeed<T>(
  sources: readonly LogSource[],
  options: FeedOptions,
  form: FeedForm<T>,
): ReadableStream<T | LogStart> {
  const count = options.follow ? sources.length * options.streams.length : 0;
  if (followed + count > MAX_FOLLOWED) {
    throw new ProcsupError("too_many_clients", `${followed} logs are being followed already`, {
      hint: "Follow fewer processes at once",
    });
  }
  followed += count;
  const { readable, writable } = new TransformStream<T | LogStart, T | LogStart>();
  const feed = new Feed(sources, options, form, writable.getWriter());
  void feed.run().finally(() => followed -= count);
  return readable;
}

class Feed<T> {
  readonly #options: FeedOptions;
  readonly #writer: WritableStreamDefaultWriter<T | LogStart>;
  readonly #form: FeedForm<T>;
  readonly #search = new Search(SEARCH_LIMITS);
  readonly #sources: readonly (readonly Reader[])[];
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
    this.#sources = sources.map(({ name, files, gone }) =>
      options.streams.map((stream) => ({
        name,
        stream,
        gone,
        path: files[stream],
        entries: new LogEntries(
          files[stream],
          { ...entryOptions(options, { name, stream }), search: this.#search },
        ),
      }))
    );
  }

  async run(): Promise<void> {
    const readers = this.#sources.flat();
    // The client is gone: stop reading.
    this.#writer.closed.catch(() => {
      this.#isLeft = true;
      readers.forEach(({ entries }) => entries.stop());
    });
    try {
      if (!this.#options.newOnly) await this.#skipToLast();
      const stored = merged(readers, !this.#options.follow);
      for await (const batch of this.#form.stored(stored)) await this.#writer.write(batch);
      if (this.#options.from !== undefined) await this.#writer.write(startOf(readers));
      if (this.#options.follow) await this.#pourAll(readers);
      await this.#writer.close();
    } catch (error) {
      await this.#fail(error).catch(() => {});
    } finally {
      for (const { entries } of readers) entries.close();
    }
  }

  /** Sends an expected error in the stream: a stream that breaks off means that the daemon is gone. */
  async #fail(error: unknown): Promise<void> {
    if (!(error instanceof ProcsupError) || this.#form.failed === undefined) {
      return await this.#writer.abort(error);
    }
    await this.#writer.write(this.#form.failed(error));
    await this.#writer.close();
  }

  /** Finds the last lines of each process in both its logs, without holding them in memory. */
  async #skipToLast(): Promise<void> {
    const { lines, follow, from = {} } = this.#options;
    // A client that resumes wants everything since, however much.
    if (Object.keys(from).length > 0 || (lines === 0 && !follow)) return;
    const count = Math.min(lines || MAX_BEFORE, MAX_BEFORE);
    for (const readers of this.#sources) {
      await this.#skipTo(readers, count);
      if (this.#isLeft) throw new Error("The client is gone");
    }
  }

  async #skipTo(readers: readonly Reader[], count: number): Promise<void> {
    const { follow, filter } = this.#options;
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
      of.entries = new LogEntries(of.path, {
        ...filter?.byEntry
          ? { from: await startOfEntry(of.path, start), showFrom: start }
          : { from: start },
        to: follow ? undefined : to,
        filter,
        search: filter && this.#search,
      });
    }
  }

  async #pourAll(readers: readonly Reader[]): Promise<void> {
    const pours = readers.map((reader) => this.#pour(reader));
    try {
      await Promise.all(pours);
    } finally {
      // Do not close a file while it is being read.
      readers.forEach(({ entries }) => entries.stop());
      await Promise.allSettled(pours);
    }
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

/** Reads as few lines as possible; with a filter, all must be read. */
function entryOptions(
  { lines, follow, newOnly, filter, from }: FeedOptions,
  log: LogName,
): EntryOptions {
  return {
    from: from && positionOf(from, log),
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
