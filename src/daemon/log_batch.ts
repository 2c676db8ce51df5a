/** Batches of log lines for clients. */

import type { LogEntry } from "../logs/read/entry_cutter.ts";
import type { FeedForm } from "../logs/read/log_feed.ts";
import type { LogSlice } from "../logs/read/merged_logs.ts";
import type { ProcsupError } from "../model/errors.ts";
import type { LogLine } from "../model/log_line.ts";
import { type ErrorJson, errorJson } from "../protocol/envelope.ts";

const encoder = new TextEncoder();

/**
 * Lines that are sent together, as text: thousands of waiting line objects would take too much memory.
 * Clients that follow the same log share a batch.
 */
export class LogBatch {
  /** One JSON object per line. */
  readonly ndjson: Uint8Array<ArrayBuffer>;
  /** The error that ended the stream; such a batch has no lines. */
  readonly failure: ErrorJson | undefined;

  constructor(slices: readonly LogSlice[], failure?: ErrorJson) {
    const text = failure === undefined
      ? slices.map(textOf).join("")
      : `${JSON.stringify(failure)}\n`;
    this.ndjson = encoder.encode(text);
    this.failure = failure;
  }

  get lines(): LogLine[] {
    const texts = new TextDecoder().decode(this.ndjson).split("\n");
    return texts.slice(0, -1).map((text) => JSON.parse(text));
  }
}

function textOf({ of: { name, stream }, entries }: LogSlice): string {
  const head = `{"name":${JSON.stringify(name)},"stream":"${stream}",`;
  let [time, iso] = [NaN, ""];
  let text = "";
  for (const { line, at, end, partial, bytes, lost } of entries) {
    if (at !== time) [time, iso] = [at, new Date(at).toISOString()];
    const piece = partial ? ',"partial":true' : "";
    const what = lost === undefined ? `"line":${JSON.stringify(bytes ?? line)}` : `"lost":${lost}`;
    text += `${head}${what},"at":"${iso}","end":${end}${piece}}\n`;
  }
  return text;
}

/** Size of a batch, in UTF-16 units. */
const MAX_CHARS = 64 * 1024;

/** Batches by the entries they were made of, shared by all clients of a log. */
const shared = new WeakMap<readonly LogEntry[], LogBatch>();

/** The form of feeds for clients. */
export const BATCHES: FeedForm<LogBatch> = {
  async *stored(stored: AsyncIterable<LogSlice>): AsyncGenerator<LogBatch> {
    let slices: LogSlice[] = [];
    let chars = 0;
    for await (const slice of stored) {
      slices.push(slice);
      for (const { line } of slice.entries) chars += line.length;
      if (chars < MAX_CHARS) continue;
      yield new LogBatch(slices);
      slices = [];
      chars = 0;
    }
    if (slices.length > 0) yield new LogBatch(slices);
  },

  /** The batch for new lines, shared by all streams. */
  arrived(slice: LogSlice): LogBatch {
    return shared.getOrInsertComputed(slice.entries, () => new LogBatch([slice]));
  },

  /** The last batch of a failed stream. If a stream ends without it, the daemon is gone. */
  failed(error: ProcsupError): LogBatch {
    return new LogBatch([], errorJson(error));
  },
};
