/** A log as a stream of bytes, from its start or its last lines, to its end or on and on. */

import { LogCursor } from "./log_cursor.ts";
import { startOfTail } from "./log_tail.ts";

/** Which part of a log is streamed. */
export interface LogStreamOptions {
  /** Last lines to begin with; 0 or nothing for all of it (spec 8). */
  readonly tail?: number;
  /** Position at which to begin, instead of `tail`: see `logEnd()`. */
  readonly start?: number;
  /** Nothing of what is there, only what comes. Without `follow` that is nothing at all. */
  readonly newOnly?: boolean;
  /** Go on from the end as the file grows, wait for it when it is not there. */
  readonly follow?: boolean;
  /** Ends the stream, as its reader's `cancel()` does. It closes, without an error. */
  readonly signal?: AbortSignal;
  /** Milliseconds between two looks at a file that does not grow: 200 (spec 4.5). */
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
  readonly #path: string;
  readonly #follow: boolean;
  readonly #pollMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #cursor: LogCursor;
  /** Where to begin, or how many lines to begin with, until the file has been looked for once. */
  #from: "base" | "end" | number;
  #start: number | undefined;
  /** Another file has the path by now: this one is read to its end and given up. */
  #replaced = false;
  #stopped = false;
  #pulling: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #onAbort: (() => void) | undefined;

  constructor(path: string, options: LogStreamOptions) {
    this.#path = path;
    this.#follow = options.follow ?? false;
    this.#pollMs = options.pollMs ?? 200;
    this.#signal = options.signal;
    this.#cursor = new LogCursor(path);
    this.#start = options.start;
    this.#from = options.newOnly ? "end" : options.tail || "base";
  }

  start(controller: Controller): void {
    this.#onAbort = () => {
      if (this.#stopped) return;
      // A pull under way closes the stream itself.
      if (this.#pulling === undefined) controller.close();
      this.stop();
    };
    if (this.#signal?.aborted) this.#onAbort();
    else this.#signal?.addEventListener("abort", this.#onAbort);
  }

  pull(controller: Controller): Promise<void> {
    this.#pulling = this.#deliver(controller).finally(() => this.#pulling = undefined);
    return this.#pulling;
  }

  /** Ends all; when it resolves nothing is left open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    // A file is not closed under a read.
    await this.#pulling?.catch(() => {});
    this.#release();
  }

  async #deliver(controller: Controller): Promise<void> {
    let chunk: Uint8Array<ArrayBuffer> | undefined;
    try {
      chunk = await this.#next();
    } catch (error) {
      this.#release();
      if (!this.#stopped) throw error;
    }
    // A stream that its reader has cancelled takes no chunk.
    if (chunk !== undefined && !this.#stopped) return controller.enqueue(chunk);
    this.#release();
    closeIfOpen(controller);
  }

  #release(): void {
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#cursor.close();
  }

  /** The next bytes; undefined when there will be none. */
  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (!this.#stopped) {
      if (this.#cursor.isOpen || await this.#open()) {
        const chunk = await this.#cursor.read();
        if (chunk !== undefined) return chunk;
      }
      if (!this.#follow) return undefined;
      if (!this.#stopped && !(await this.#hasMore())) await this.#wait();
    }
    return undefined;
  }

  async #open(): Promise<boolean> {
    const from = this.#from;
    this.#from = "base";
    const opened = await this.#cursor.open();
    if (opened === undefined) return false;
    if (!this.#follow) this.#cursor.end = opened.end;
    if (this.#start !== undefined) this.#cursor.position = this.#start;
    else if (typeof from !== "number") this.#cursor.position = opened[from];
    else this.#cursor.position = await startOfTail(this.#path, this.#cursor, opened, from);
    this.#start = undefined;
    return true;
  }

  /** At the end of the file: whether a look at the path shows a reason to read on at once. */
  async #hasMore(): Promise<boolean> {
    const found = await this.#cursor.look();
    // Missing: deleted, but whoever has it open may still write to it.
    if (found !== "replaced") {
      if (found !== "missing") this.#replaced = false;
      return found === "grown";
    }
    if (this.#replaced) this.#cursor.close();
    // Once more to the old one's end, which may have grown before it was replaced.
    this.#replaced = this.#cursor.isOpen && !this.#replaced;
    return true;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function closeIfOpen(controller: Controller): void {
  try {
    controller.close();
  } catch {
    // Cancelled: it is closed already.
  }
}
