/** Lines of logs for one client of the feed: no faster than it reads. */

import type { ErrorJson } from "../protocol/error_json.ts";
import type { LogLines } from "./backend.ts";
import { publicError } from "./reply.ts";

/** Where the lines go. */
export interface LogSink {
  /** Bytes that the client has not taken yet. */
  unsent(): number;
  send(message: string | Uint8Array<ArrayBuffer>): void;
}

/**
 * A log that is written faster than clients can read is followed at this pace, 2.5 MB a second, by all at
 * once: so they are given the same lines together, which are read and serialized once. Without it two
 * hundred who follow 10 MB a second take twice the CPU time, and half of them deaf twice the memory.
 */
const PACE_MS = 25;
const BIG_MESSAGE = 32 * 1024;
let step: Promise<void> | undefined;

/** While more than this is unsent, nothing is read: the log itself is the buffer. */
const ENOUGH_UNSENT = 64 * 1024;

const encoder = new TextEncoder();

/** What was sent of lines already: followers of one log get the same bytes. */
const messages = new WeakMap<LogLines, Uint8Array<ArrayBuffer>>();

/** A log that is being followed. */
export class FeedLogs {
  readonly #sink: LogSink;
  readonly #id: { readonly id?: number };
  #reader: ReadableStreamDefaultReader<LogLines> | undefined;
  #isOver = false;

  /**
   * `open` gives the lines; its errors are sent to the client. All that is sent carries the `id`, by
   * which a client tells its logs apart, where it gave one.
   */
  constructor(
    open: () => Promise<ReadableStream<LogLines>>,
    sink: LogSink,
    id?: number,
  ) {
    this.#sink = sink;
    this.#id = id === undefined ? {} : { id };
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
        if (this.#isOver) return;
        if (done) return this.#sink.send(JSON.stringify({ type: "log_end", ...this.#id }));
        if (value.failure) return this.#fail(value.failure);
        const message = messageWith(value, this.#id.id);
        this.#sink.send(message);
        if (message.length > BIG_MESSAGE) await nextStep();
      }
    } catch (error) {
      if (this.#isOver) return;
      this.#fail(publicError(error));
    }
  }

  #fail(failure: ErrorJson): void {
    this.#sink.send(JSON.stringify({ type: "error", ...this.#id, ...failure }));
  }

  /** Waits until the client has taken enough of what it was sent. */
  async #room(): Promise<void> {
    while (!this.#isOver && this.#sink.unsent() > ENOUGH_UNSENT) {
      await nextStep();
    }
  }
}

/** The same moment for all who wait for it. */
function nextStep(): Promise<void> {
  return step ??= new Promise((resolve) =>
    setTimeout(() => {
      step = undefined;
      resolve();
    }, PACE_MS)
  );
}

/** `{type, id, lines}`, whose lines are those of the batch. */
function messageWith(batch: LogLines, id: number | undefined): Uint8Array<ArrayBuffer> {
  let message = messages.get(batch);
  if (message === undefined) {
    message = asArray(batch.ndjson);
    messages.set(batch, message);
  }
  if (id === undefined) return message;
  const head = encoder.encode(`${TYPE}"id":${id},`);
  const rest = message.subarray(TYPE.length);
  const own = new Uint8Array(head.length + rest.length);
  own.set(head);
  own.set(rest, head.length);
  return own;
}

const TYPE = '{"type":"log",';
const [BEFORE, AFTER] = [encoder.encode(`${TYPE}"lines":[`), encoder.encode("]}")];
const [NEWLINE, COMMA] = [10, 44];

/** JSON lines are the items of an array, but for what stands between them and behind the last one. */
function asArray(ndjson: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BEFORE.length + ndjson.length - 1 + AFTER.length);
  bytes.set(BEFORE);
  bytes.set(ndjson, BEFORE.length);
  bytes.set(AFTER, bytes.length - AFTER.length);
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    bytes[at] = COMMA;
  }
  return bytes;
}
