/** Lines of logs for one client of the feed: no faster than it reads. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { LogLines } from "./backend.ts";

/** Where the lines go. */
export interface LogSink {
  /** Bytes that the client has not taken yet. */
  unsent(): number;
  send(message: string | Uint8Array<ArrayBuffer>): void;
}

/** While more than this is unsent, nothing is read: the log itself is the buffer. */
const ENOUGH_UNSENT = 256 * 1024;
const LOOK_MS = 50;

const encoder = new TextEncoder();

/** What was sent of lines already: followers of one log get the same bytes. */
const messages = new WeakMap<LogLines, Uint8Array<ArrayBuffer>>();

/** A log that is being followed. */
export class FeedLogs {
  readonly #sink: LogSink;
  #reader: ReadableStreamDefaultReader<LogLines> | undefined;
  #isOver = false;

  /** `open` gives the lines; what it throws is told to the client. */
  constructor(open: () => Promise<ReadableStream<LogLines>>, sink: LogSink) {
    this.#sink = sink;
    void this.#run(open);
  }

  /** Ends it. */
  stop(): void {
    this.#isOver = true;
    this.#reader?.cancel().catch(() => {});
  }

  async #run(open: () => Promise<ReadableStream<LogLines>>): Promise<void> {
    try {
      this.#reader = (await open()).getReader();
      if (this.#isOver) return this.stop();
      for (;;) {
        await this.#room();
        const { done, value } = await this.#reader.read();
        if (done || this.#isOver) return;
        this.#sink.send(messageFor(value));
      }
    } catch (error) {
      if (this.#isOver) return;
      const code = error instanceof ProcsupError ? error.code : "internal";
      this.#sink.send(JSON.stringify({ type: "error", error: messageOf(error), code }));
    }
  }

  /** Waits until the client has taken enough of what it was sent. */
  async #room(): Promise<void> {
    while (!this.#isOver && this.#sink.unsent() > ENOUGH_UNSENT) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

function messageFor(batch: LogLines): Uint8Array<ArrayBuffer> {
  let message = messages.get(batch);
  if (message === undefined) {
    message = encoder.encode(JSON.stringify({ type: "log", lines: batch.lines }));
    messages.set(batch, message);
  }
  return message;
}
