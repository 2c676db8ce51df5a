/** Logs of several processes as one stream of lines, in the order of their time. */

import { lastPlaces, type LogPlace } from "../logs/last_lines.ts";
import { type EntryOptions, LogEntries } from "../logs/log_entries.ts";
import type { LogFiles } from "../logs/log_files.ts";
import type { LogFilter } from "../logs/log_filter.ts";
import { Search, SEARCH_LIMITS } from "../logs/search.ts";
import { ProcsupError } from "../model/errors.ts";
import { type LogPositions, type LogStart, positionKey } from "../model/log_line.ts";
import { LogBatch } from "./log_batch.ts";
import { Batches } from "./log_batches.ts";
import { merged, type Reader } from "./merged_logs.ts";

/** A log to read. */
export interface LogSource {
  readonly name: string;
  readonly files: LogFiles;
}

/** What to read of each log. */
export interface FeedOptions {
  /** Last lines of each process; 0 for all. */
  readonly lines: number;
  readonly follow: boolean;
  readonly streams: readonly (keyof LogFiles)[];
  /** Nothing of what is there. */
  readonly newOnly?: boolean;
  readonly filter?: LogFilter | undefined;
  /** Tell positions; the logs that are named here go on where they say. */
  readonly from?: LogPositions;
}

/** Most lines of each process that come before those that are followed. */
const MAX_BEFORE = 10_000;

/** Logs that are followed at once, by all clients: each holds open files. */
const MAX_FOLLOWED = 4096;
let followed = 0;

/**
 * The lines of every source that are there, by time, and when following those that come; with `from`,
 * a `LogStart` stands between the two. No faster than they are taken: the log itself is the buffer.
 * Throws `too_many_clients`.
 */
export function logFeed(
  sources: readonly LogSource[],
  options: FeedOptions,
): ReadableStream<LogBatch | LogStart> {
  const count = options.follow ? sources.length * options.streams.length : 0;
  if (followed + count > MAX_FOLLOWED) {
    throw new ProcsupError("too_many_clients", `${followed} logs are being followed already`, {
      hint: "Follow fewer processes at once",
    });
  }
  followed += count;
  const { readable, writable } = new TransformStream<LogBatch | LogStart, LogBatch | LogStart>();
  const feed = new Feed(sources, options, writable.getWriter());
  void feed.run().finally(() => followed -= count);
  return readable;
}

class Feed {
  readonly #options: FeedOptions;
  readonly #writer: WritableStreamDefaultWriter<LogBatch | LogStart>;
  readonly #batches: Batches;
  readonly #search = new Search(SEARCH_LIMITS);
  readonly #sources: readonly (readonly Reader[])[];
  /** Nobody reads the stream any more. */
  #isLeft = false;

  constructor(
    sources: readonly LogSource[],
    options: FeedOptions,
    writer: WritableStreamDefaultWriter<LogBatch | LogStart>,
  ) {
    this.#options = options;
    this.#writer = writer;
    this.#batches = new Batches(options.from !== undefined);
    this.#sources = sources.map(({ name, files }) =>
      options.streams.map((stream) => ({
        name,
        stream,
        path: files[stream],
        entries: new LogEntries(
          files[stream],
          { ...entryOptions(options, positionKey({ name, stream })), search: this.#search },
        ),
      }))
    );
  }

  async run(): Promise<void> {
    const readers = this.#sources.flat();
    // The reader is gone, and with it the interest in all sources.
    this.#writer.closed.catch(() => {
      this.#isLeft = true;
      readers.forEach(({ entries }) => entries.stop());
    });
    try {
      if (!this.#options.newOnly) await this.#skipToLast();
      const stored = merged(readers, !this.#options.follow);
      for await (const batch of this.#batches.of(stored)) await this.#writer.write(batch);
      if (this.#options.from !== undefined) await this.#writer.write(startOf(readers));
      if (this.#options.follow) await this.#pourAll(readers);
      await this.#writer.close();
    } catch (error) {
      await this.#fail(error).catch(() => {});
    } finally {
      for (const { entries } of readers) entries.close();
    }
  }

  /** What is expected is told in the stream: a stream that breaks off means that the daemon is gone. */
  async #fail(error: unknown): Promise<void> {
    if (!(error instanceof ProcsupError)) return await this.#writer.abort(error);
    await this.#writer.write(LogBatch.failed(error));
    await this.#writer.close();
  }

  /** Finds the last lines of each process, of both its logs together, without holding them. */
  async #skipToLast(): Promise<void> {
    const { lines, follow, from = {} } = this.#options;
    // Whoever goes on wants all that came meanwhile, however much it is.
    if (Object.keys(from).length > 0 || (lines === 0 && !follow)) return;
    const count = Math.min(lines || MAX_BEFORE, MAX_BEFORE);
    for (const readers of this.#sources) {
      await this.#skipTo(readers, count);
      if (this.#isLeft) throw new Error("Nobody reads the stream any more");
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
      // Nothing was there: what comes is all there is.
      if (position === undefined) continue;
      of.entries.close();
      const to = of.entries.end;
      const from = Math.min(
        ...last.filter((place) => place.of === of).map(({ start }) => start),
        to,
      );
      of.entries = new LogEntries(of.path, {
        ...{ from: follow ? Math.min(from, position) : from },
        ...(follow ? {} : { to }),
        ...(filter === undefined ? {} : { filter, search: this.#search }),
      });
    }
  }

  async #pourAll(readers: readonly Reader[]): Promise<void> {
    const pours = readers.map((reader) => this.#pour(reader));
    try {
      await Promise.all(pours);
    } finally {
      // A file is not closed under a read.
      readers.forEach(({ entries }) => entries.stop());
      await Promise.allSettled(pours);
    }
  }

  async #pour(of: Reader): Promise<void> {
    for await (const chunk of of.entries.coming()) {
      await this.#writer.write(this.#batches.arrived(chunk, of));
    }
  }
}

/** As few lines are read as possible: a filter has to see them all. */
function entryOptions(
  { lines, follow, newOnly, filter, from }: FeedOptions,
  key: string,
): EntryOptions {
  const position = from?.[key];
  return {
    ...(position === undefined ? {} : { from: position }),
    // All that pass are found from the first one on, those to be followed from the last one back.
    tail: lines || (follow && filter !== undefined ? MAX_BEFORE : 0),
    ...(newOnly ? { newOnly } : {}),
    ...(filter === undefined ? {} : { filter }),
  };
}

function startOf(readers: readonly Reader[]): LogStart {
  const positions = readers.map((of) => [positionKey(of), of.entries.position ?? 0] as const);
  return { positions: Object.fromEntries(positions) };
}
