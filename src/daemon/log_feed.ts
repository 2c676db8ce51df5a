/** Logs of several processes as one stream of lines, in the order of their time. */

import { type EntryOptions, LogEntries, type LogEntry } from "../logs/log_entries.ts";
import type { LogFiles } from "../logs/log_files.ts";
import type { LogFilter } from "../logs/log_filter.ts";

/** One line of a log. */
export interface LogLine {
  readonly name: string;
  readonly stream: keyof LogFiles;
  readonly line: string;
  /** When it was written, as ISO 8601: see the time index for how exact that is. */
  readonly at: string;
}

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
}

/** Most lines of each process that come before those that are followed. */
const MAX_BEFORE = 10_000;

/** The lines of every source that are there, by time, and when following those that come. */
export function logFeed(
  sources: readonly LogSource[],
  options: FeedOptions,
): ReadableStream<LogLine> {
  const { readable, writable } = new TransformStream<LogLine, LogLine>();
  const feed = new Feed(sources, options, writable.getWriter());
  void feed.run();
  return readable;
}

/** One log of one source. */
interface Reader {
  readonly name: string;
  readonly stream: keyof LogFiles;
  readonly entries: LogEntries;
}

type Timed = LogEntry & { readonly of: Reader };

class Feed {
  readonly #options: FeedOptions;
  readonly #writer: WritableStreamDefaultWriter<LogLine>;
  readonly #sources: readonly (readonly Reader[])[];

  constructor(
    sources: readonly LogSource[],
    options: FeedOptions,
    writer: WritableStreamDefaultWriter<LogLine>,
  ) {
    this.#options = options;
    this.#writer = writer;
    this.#sources = sources.map(({ name, files }) =>
      options.streams.map((stream) => ({
        name,
        stream,
        entries: new LogEntries(files[stream], entryOptions(options)),
      }))
    );
  }

  async run(): Promise<void> {
    const readers = this.#sources.flat();
    // The reader is gone, and with it the interest in all sources.
    this.#writer.closed.catch(() => readers.forEach(({ entries }) => entries.stop()));
    try {
      for await (const entry of this.#stored()) await this.#write(entry);
      if (this.#options.follow) await this.#pourAll(readers);
      await this.#writer.close();
    } catch (error) {
      await this.#writer.abort(error).catch(() => {});
    } finally {
      for (const { entries } of readers) entries.close();
    }
  }

  #stored(): AsyncGenerator<Timed> {
    const { lines, follow } = this.#options;
    if (lines === 0 && !follow) return merged(this.#sources.flat());
    return this.#last(Math.min(lines || MAX_BEFORE, MAX_BEFORE));
  }

  /** The last lines of each process, of both its logs together. */
  async *#last(count: number): AsyncGenerator<Timed> {
    const all: Timed[] = [];
    for (const readers of this.#sources) {
      const own: Timed[] = [];
      for (const of of readers) {
        const entries = await of.entries.last(count, !this.#options.follow);
        for (const entry of entries) own.push({ ...entry, of });
        if (!this.#options.follow) of.entries.close();
      }
      for (const entry of own.sort(byTime).slice(-count)) all.push(entry);
    }
    yield* all.sort(byTime);
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
    for await (const entry of of.entries.coming()) await this.#write({ ...entry, of });
  }

  #write({ line, at, of }: Timed): Promise<void> {
    const { name, stream } = of;
    return this.#writer.write({ name, stream, line, at: new Date(at).toISOString() });
  }
}

/** As few lines are read as possible: a filter has to see them all. */
function entryOptions({ lines, newOnly, filter }: FeedOptions): EntryOptions {
  return {
    tail: lines,
    ...(newOnly ? { newOnly } : {}),
    ...(filter === undefined ? {} : { filter }),
  };
}

function byTime(one: LogEntry, other: LogEntry): number {
  return one.at - other.at;
}

/** All lines of all logs, by time, without holding more than one of each. */
async function* merged(readers: readonly Reader[]): AsyncGenerator<Timed> {
  const heads: { iterator: AsyncGenerator<LogEntry>; entry: LogEntry; of: Reader }[] = [];
  for (const of of readers) {
    const iterator = of.entries.stored(true);
    const { value } = await iterator.next();
    if (value) heads.push({ iterator, entry: value, of });
  }
  while (heads.length > 0) {
    const head = heads.reduce((first, next) => next.entry.at < first.entry.at ? next : first);
    yield { ...head.entry, of: head.of };
    const { value } = await head.iterator.next();
    if (value) head.entry = value;
    else heads.splice(heads.indexOf(head), 1);
  }
}
