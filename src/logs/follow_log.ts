/** A log as a stream of bytes, from its start or its last lines, to its end or on and on. */

import { startOfLastLines } from "./last_lines.ts";
import { BLOCK_BYTES, openIfAny, readAt } from "./read_at.ts";

/** Which part of a log is streamed. */
export interface LogStreamOptions {
  /** Last lines to begin with; 0 or nothing for all of it (spec 8). */
  readonly tail?: number;
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
 * With it, a file that shrinks is read again from its start, and one that is replaced is read to
 * its end and its successor from the start. Errors when the file cannot be read.
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
  readonly #buffer = new Uint8Array(BLOCK_BYTES);
  /** Lines to begin with, until the file has been looked for once. */
  #tail: number;
  #file: Deno.FsFile | undefined;
  #inode = "";
  #position = 0;
  #end = Infinity;
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
    this.#tail = options.tail ?? 0;
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
    this.#file?.close();
    this.#file = undefined;
  }

  /** The next bytes; undefined when there will be none. */
  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (!this.#stopped) {
      if (this.#file !== undefined || await this.#open()) {
        const chunk = await this.#read();
        if (chunk !== undefined) return chunk;
      }
      if (!this.#follow) return undefined;
      if (!this.#stopped && !(await this.#hasMore())) await this.#wait();
    }
    return undefined;
  }

  async #open(): Promise<boolean> {
    const tail = this.#tail;
    this.#tail = 0;
    this.#file = await openIfAny(this.#path);
    if (this.#file === undefined) return false;
    const info = await this.#file.stat();
    this.#inode = identity(info);
    if (!this.#follow) this.#end = info.size;
    this.#position = tail > 0 ? await startOfLastLines(this.#file, info.size, tail) : 0;
    return true;
  }

  async #read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const room = this.#buffer.subarray(0, Math.min(BLOCK_BYTES, this.#end - this.#position));
    if (room.length === 0) return undefined;
    const count = await readAt(this.#file!, this.#position, room);
    this.#position += count;
    return count === 0 ? undefined : this.#buffer.slice(0, count);
  }

  /** At the end of the file: whether a look at the path shows a reason to read on at once. */
  async #hasMore(): Promise<boolean> {
    const info = await statIfAny(this.#path);
    // Deleted: whoever has it open may still write to it.
    if (info === undefined) return false;
    if (this.#file === undefined) return true;
    if (identity(info) === this.#inode) {
      this.#replaced = false;
      if (info.size < this.#position) this.#position = positionAfterShrink();
      return info.size > this.#position;
    }
    if (this.#replaced) {
      this.#file.close();
      this.#file = undefined;
    }
    // Once more to the old one's end, which may have grown before it was replaced.
    this.#replaced = !this.#replaced;
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

/** Where to read on in a file that has lost bytes. It was truncated, for all that is known here. */
function positionAfterShrink(): number {
  return 0;
}

function identity(info: Deno.FileInfo): string {
  return `${info.dev}:${info.ino}`;
}

async function statIfAny(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
