/** Lines of logs for one client of the feed: in batches, and no faster than it reads. */

import { messageOf, ProcsupError } from "../model/errors.ts";

/** Where the lines go. */
export interface LogSink {
  /** Bytes that the client has not taken yet. */
  unsent(): number;
  send(message: unknown): void;
}

const BATCH_MS = 50;
const MAX_BATCH_CHARS = 64 * 1024;
/** Between full batches, for each log that is followed: together they must not keep others waiting. */
const PAUSE_MS = 25;
/** More than this are refused: each one reads, and holds a piece of, its log by itself. */
const MAX_FOLLOWING = 16;
const MAX_LINE_CHARS = 64 * 1024;
/** While more than this is unsent, nothing is read: the log itself is the buffer. */
const ENOUGH_UNSENT = 256 * 1024;

/** How many are being followed, by all clients. */
let following = 0;

/** A log that is being followed. */
export class FeedLogs {
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #sink: LogSink;
  #batch: unknown[] = [];
  #chars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;
  #counted = true;

  /** `open` gives the lines. Throws `too_many_clients`, and what `open` throws. */
  constructor(open: () => ReadableStream<unknown>, sink: LogSink) {
    if (following >= MAX_FOLLOWING) {
      throw new ProcsupError(
        "too_many_clients",
        `${MAX_FOLLOWING} logs are being followed already: close another page, or use procsup logs`,
      );
    }
    this.#reader = open().getReader();
    this.#sink = sink;
    following++;
    void this.#run();
  }

  /** Ends it. */
  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#leave();
    this.#reader.cancel().catch(() => {});
  }

  /** Makes room for another one, once. */
  #leave(): void {
    if (this.#counted) following--;
    this.#counted = false;
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done || this.#over) break;
        this.#add(value);
        if (this.#chars > MAX_BATCH_CHARS) await this.#room();
      }
    } catch (error) {
      if (!this.#over) {
        this.#sink.send({ type: "error", error: messageOf(error), code: "internal" });
      }
    }
    this.#leave();
    if (!this.#over) this.#flush();
  }

  #add(value: unknown): void {
    const line = capped(value);
    this.#batch.push(line);
    this.#chars += line.line.length + 100;
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  /** Sends what is there, and waits until the client has taken enough of it. */
  async #room(): Promise<void> {
    this.#flush();
    do {
      await new Promise((resolve) => setTimeout(resolve, Math.max(BATCH_MS, PAUSE_MS * following)));
    } while (!this.#over && this.#sink.unsent() > ENOUGH_UNSENT);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch.length === 0) return;
    const lines = this.#batch;
    this.#batch = [];
    this.#chars = 0;
    this.#sink.send({ type: "log", lines });
  }
}

function capped(value: unknown): { readonly line: string } {
  const line = value as { readonly line: string };
  if (line.line.length <= MAX_LINE_CHARS) return line;
  return { ...line, line: `${line.line.slice(0, MAX_LINE_CHARS)}…` };
}
