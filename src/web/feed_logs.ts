/** Sends lines of logs to a client of the feed, as fast as it reads. */

import type { ErrorJson } from "../protocol/error_json.ts";
import type { LogStart } from "../model/log_line.ts";
import type { LogLines } from "./backend.ts";
import { publicError } from "./reply.ts";

export interface FeedLogsOptions {
  /** All messages carry it: the client tells its logs apart by it. */
  readonly id?: number;
  /** Called when the log is open, before its lines are sent. */
  readonly opened?: () => void;
}

interface LogSink {
  /** Bytes that the client has not taken yet. */
  unsent(): number;
  send(message: string | Uint8Array<ArrayBuffer>): void;
}

/**
 * A pause after each big message limits a log to 2.5 MB a second. All clients then get the same
 * lines, which are read and serialized once. Without it, two hundred clients of a log of 10 MB a
 * second would take twice the CPU time, and twice the memory if half of them did not read.
 */
const PACE_MS = 25;
const BIG_MESSAGE = 32 * 1024;
let step: Promise<void> | undefined;

/** With more unsent bytes than this, no lines are read or sent: the log file is the buffer. */
const ENOUGH_UNSENT = 64 * 1024;

const encoder = new TextEncoder();

/** Messages by batch: clients of the same log share the bytes. */
const messages = new WeakMap<LogLines, Uint8Array<ArrayBuffer>>();

export class FeedLogs {
  /** Resolves when no more lines are sent. */
  readonly ended: Promise<void>;
  readonly #sink: LogSink;
  readonly #id: { readonly id?: number };
  #reader: ReadableStreamDefaultReader<LogLines | LogStart> | undefined;
  #isOver = false;

  /** `open` returns the lines; its errors are sent to the client. */
  constructor(
    open: () => Promise<ReadableStream<LogLines | LogStart>>,
    sink: LogSink,
    { id, opened }: FeedLogsOptions = {},
  ) {
    this.#sink = sink;
    this.#id = id === undefined ? {} : { id };
    this.ended = this.#run(open, opened);
  }

  stop(): void {
    this.#isOver = true;
    this.#reader?.cancel().catch(() => {});
  }

  async #run(
    open: () => Promise<ReadableStream<LogLines | LogStart>>,
    opened: () => void = () => {},
  ): Promise<void> {
    try {
      this.#reader = (await open()).getReader();
      if (this.#isOver) return this.stop();
      opened();
      for (;;) {
        const { done, value } = await this.#reader.read();
        // Do not `await` between this check and `send()`: all logs of a connection wait for the
        // same room, and each would fill it.
        while (!this.#isOver && this.#sink.unsent() > ENOUGH_UNSENT) await nextStep();
        if (this.#isOver) return;
        if (done) return this.#sink.send(JSON.stringify({ type: "log_end", ...this.#id }));
        if (!("ndjson" in value)) continue;
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
}

/** Resolves with a timer that all waiting clients share, so that they continue together. */
function nextStep(): Promise<void> {
  return step ??= new Promise((resolve) =>
    setTimeout(() => {
      step = undefined;
      resolve();
    }, PACE_MS)
  );
}

/** The message `{type, id, lines}` for a batch. */
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

/** The message for JSON lines: an array, with commas in place of the newlines. */
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
