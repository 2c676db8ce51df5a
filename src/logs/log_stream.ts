/** A log as a stream of bytes, from its start or its last lines, to its end or on and on. */

import { lastEntries } from "./last_lines.ts";
import { type EntryOptions, LogEntries, type LogEntry } from "./log_entries.ts";
import { type Begin, LogFollower } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";

/** Which part of a log is streamed. */
export interface LogStreamOptions {
  /** Last lines to begin with; 0 or nothing for all of it. */
  readonly tail?: number;
  /** Position at which to begin, instead of `tail`: see `logEnd()`. */
  readonly start?: number;
  /** Nothing of what is there, only what comes. Without `follow` that is nothing at all. */
  readonly newOnly?: boolean;
  /** Go on from the end as the file grows, wait for it when it is not there. */
  readonly follow?: boolean;
  /** Ends the stream, as its reader's `cancel()` does. It closes, without an error. */
  readonly signal?: AbortSignal;
  /** Aborted when nobody writes to it any more: what is followed ends at its end then. */
  readonly gone?: AbortSignal;
  /** Milliseconds between two looks at a file that does not grow: 200 unless given. */
  readonly pollMs?: number;
}

/**
 * Streams a log byte for byte, in chunks of at most 64 KiB, one at a time as they are asked for.
 *
 * Without `follow` it ends where the file ended when it was opened, and is empty without a file.
 * With it, what is rotated into an archive meanwhile is read once, a file that somebody truncates is
 * read again from its start, and one that is replaced is read to its end and its successor from the
 * start. Last lines that the file does not hold are taken from the archives. Errors when the file
 * cannot be read.
 */
export function logStream(
  path: string,
  options: LogStreamOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = new LogReader(path, options);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => reader.start(controller),
    pull: (controller) => reader.pull(controller),
    cancel: () => reader.stop(),
  }, { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

class LogReader {
  readonly #follower: LogFollower;
  readonly #signal: AbortSignal | undefined;
  readonly #gone: AbortSignal | undefined;
  readonly #finish = () => this.#follower.finish();
  #pulling: Promise<void> | undefined;
  #onAbort: (() => void) | undefined;

  constructor(path: string, options: LogStreamOptions) {
    this.#signal = options.signal;
    this.#gone = options.gone;
    this.#follower = new LogFollower(path, {
      follow: options.follow ?? false,
      ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
      begin: beginOf(path, options),
    });
  }

  start(controller: Controller): void {
    this.#onAbort = () => {
      if (this.#follower.isStopped) return;
      // A pull under way closes the stream itself.
      if (this.#pulling === undefined) controller.close();
      this.stop();
    };
    if (this.#gone?.aborted) this.#finish();
    else this.#gone?.addEventListener("abort", this.#finish);
    if (this.#signal?.aborted) this.#onAbort();
    else this.#signal?.addEventListener("abort", this.#onAbort);
  }

  pull(controller: Controller): Promise<void> {
    this.#pulling = this.#deliver(controller).finally(() => this.#pulling = undefined);
    return this.#pulling;
  }

  /** Ends all; when it resolves nothing is left open. */
  async stop(): Promise<void> {
    this.#follower.stop();
    // A file is not closed under a read.
    await this.#pulling?.catch(() => {});
    this.#release();
  }

  async #deliver(controller: Controller): Promise<void> {
    let chunk: Uint8Array<ArrayBuffer> | undefined;
    try {
      chunk = await this.#follower.next();
    } catch (error) {
      this.#release();
      if (!this.#follower.isStopped) throw error;
    }
    // A stream that its reader has cancelled takes no chunk.
    if (chunk !== undefined && !this.#follower.isStopped) return controller.enqueue(chunk);
    this.#release();
    closeIfOpen(controller);
  }

  #release(): void {
    this.#gone?.removeEventListener("abort", this.#finish);
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#follower.close();
  }
}

function beginOf(path: string, { start, newOnly, tail = 0 }: LogStreamOptions): Begin {
  if (start !== undefined) return () => start;
  if (newOnly) return ({ end }) => end;
  if (tail === 0) return ({ base, from }) => Math.max(base, from);
  return (span, cursor) => startOfTail(path, cursor, span, tail, span.from);
}

function closeIfOpen(controller: Controller): void {
  try {
    controller.close();
  } catch {
    // Cancelled: it is closed already.
  }
}

/** Most that is held of the last lines, in UTF-16 units. */
const MAX_LAST = 8 * 1024 * 1024;

/** Which lines, and for how long. */
interface FilteredOptions extends EntryOptions {
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /** Aborted when nobody writes to it any more: what is followed ends at its end then. */
  readonly gone?: AbortSignal;
}

/** Streams the lines that pass, each with a newline; ends when the signal is aborted. */
export function filteredStream(
  path: string,
  options: FilteredOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { signal, gone } = options;
  const entries = new LogEntries(path, options);
  const lines = wantedLines(entries, options);
  const encoder = new TextEncoder();
  const stop = () => entries.stop();
  const finish = () => entries.finish();
  signal?.addEventListener("abort", stop);
  gone?.addEventListener("abort", finish);
  if (gone?.aborted) finish();
  if (signal?.aborted) stop();
  const unlisten = () => {
    signal?.removeEventListener("abort", stop);
    gone?.removeEventListener("abort", finish);
  };
  return new ReadableStream({
    async pull(controller) {
      const { value } = await lines.next().catch((error) => {
        unlisten();
        throw error;
      });
      const text = value?.map(({ line }) => `${line}\n`).join("");
      if (text !== undefined) return controller.enqueue(encoder.encode(text));
      unlisten();
      controller.close();
    },
    async cancel() {
      unlisten();
      stop();
      await lines.return(undefined);
    },
  }, { highWaterMark: 0 });
}

async function* wantedLines(
  entries: LogEntries,
  { tail = 0, follow: wanted = false, filter }: FilteredOptions,
): AsyncGenerator<readonly LogEntry[], undefined> {
  // What comes is later than any time that was meant.
  const follow = wanted && filter?.until === undefined;
  try {
    if (tail > 0) {
      const last = await lastEntries(entries, {
        ...{ count: tail, complete: !follow, maxChars: MAX_LAST },
      });
      if (last.length > 0) yield last;
    } else yield* entries.stored(!follow);
    if (follow) { for await (const { entries: come } of entries.coming()) yield come; }
  } finally {
    entries.close();
  }
}
