/** Streams the bytes of a log. */

import { ifPossible } from "../model/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { lastEntries } from "./last_lines.ts";
import { type EntryOptions, LogEntries, type LogEntry } from "./log_entries.ts";
import { type Begin, LogFollower } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";

export interface LogStreamOptions {
  /** Number of last lines to begin with; 0 or undefined for the whole log. */
  readonly tail?: number;
  /** Skip the content that exists. Without `follow` the stream is empty. */
  readonly newOnly?: boolean;
  /** Continue as the file grows, and wait for a missing file. */
  readonly follow?: boolean;
  /** Closes the stream without an error, like `cancel()`. */
  readonly signal?: AbortSignal | undefined;
  /** Abort it when no more output will come: a followed log then ends at its end. */
  readonly gone?: AbortSignal;
  /** Milliseconds between checks of a file that does not grow; default 200. */
  readonly pollMs?: number;
  readonly clock?: Clock;
}

/**
 * Streams a log byte for byte, in chunks of at most 64 KiB, on demand.
 *
 * Without `follow` it ends at the end that the file had when it was opened, and is empty without a
 * file. With it, rotated content is read once, a truncated file is read from its start, and a replaced
 * file is read to its end before its successor. Last lines that the file does not hold come from the
 * archives. Fails if the file cannot be read.
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
      pollMs: options.pollMs,
      clock: options.clock,
      begin: beginOf(path, options),
    });
  }

  start(controller: Controller): void {
    this.#onAbort = () => {
      if (this.#follower.isStopped) return;
      // The current pull closes the stream.
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

  /** Stops everything. Resolves when all files are closed. */
  async stop(): Promise<void> {
    this.#follower.stop();
    // Do not close a file while it is being read.
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
    // A canceled stream accepts no chunk.
    if (chunk !== undefined && !this.#follower.isStopped) return controller.enqueue(chunk);
    this.#release();
    // `cancel()` may have closed it.
    ifPossible(() => controller.close());
  }

  #release(): void {
    this.#gone?.removeEventListener("abort", this.#finish);
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#follower.close();
  }
}

function beginOf(path: string, { newOnly, tail = 0 }: LogStreamOptions): Begin {
  if (newOnly) return ({ end }) => end;
  if (tail === 0) return ({ base, from }) => Math.max(base, from);
  return (span, cursor) => startOfTail(path, cursor, span, tail, span.from);
}

/** Maximum size of the last lines in memory, in UTF-16 units. */
const MAX_LAST = 8 * 1024 * 1024;

type FilteredOptions = EntryOptions & Pick<LogStreamOptions, "follow" | "signal" | "gone">;

/** Streams the lines that pass a filter, each with a newline. The signal ends the stream. */
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
  // New lines are later than any `until`.
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
