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

  /** Lines over `most` UTF-16 units are cut. */
  constructor(slices: readonly LogSlice[], most = Infinity, failure?: ErrorJson) {
    const text = failure === undefined
      ? slices.map((slice) => textOf(slice, most)).join("")
      : `${JSON.stringify(failure)}\n`;
    this.ndjson = encoder.encode(text);
    this.failure = failure;
  }

  get lines(): LogLine[] {
    const texts = new TextDecoder().decode(this.ndjson).split("\n");
    return texts.slice(0, -1).map((text) => JSON.parse(text));
  }
}

function textOf({ of: { name, stream }, entries }: LogSlice, most: number): string {
  const head = `{"name":${JSON.stringify(name)},"stream":"${stream}",`;
  let [time, iso] = [NaN, ""];
  let text = "";
  for (const entry of entries) {
    const { at, end, partial, lost } = entry;
    if (at !== time) [time, iso] = [at, new Date(at).toISOString()];
    const line = shownPart(entry, most);
    const cut = line === (entry.bytes ?? entry.line) ? "" : `,"cut":${end - entry.start}`;
    const piece = partial ? ',"partial":true' : "";
    const what = lost === undefined ? `"line":${JSON.stringify(line)}${cut}` : `"lost":${lost}`;
    text += `${head}${what},"at":"${iso}","end":${end}${piece}}\n`;
  }
  return text;
}

/** The beginning of a long line; empty for a long piece that continues one. */
function shownPart({ line, bytes = line, continues }: LogEntry, most: number): string {
  if (bytes.length <= most) return bytes;
  return continues ? "" : bytes.slice(0, most).toWellFormed();
}

/** Size of a batch, in UTF-16 units. */
const MAX_CHARS = 64 * 1024;

/** The form of feeds for clients, with lines of a maximum length in UTF-16 units. */
class Batches implements FeedForm<LogBatch> {
  readonly #most: number;
  /** Batches by the entries they were made of, shared by all clients of a log. */
  readonly #shared = new WeakMap<readonly LogEntry[], LogBatch>();

  constructor(most: number) {
    this.#most = most;
  }

  async *stored(stored: AsyncIterable<LogSlice>): AsyncGenerator<LogBatch> {
    let slices: LogSlice[] = [];
    let chars = 0;
    for await (const slice of stored) {
      slices.push(slice);
      for (const { line } of slice.entries) chars += line.length;
      if (chars < MAX_CHARS) continue;
      yield new LogBatch(slices, this.#most);
      slices = [];
      chars = 0;
    }
    if (slices.length > 0) yield new LogBatch(slices, this.#most);
  }

  /** The batch for new lines, shared by all streams. */
  arrived(slice: LogSlice): LogBatch {
    const batch = () => new LogBatch([slice], this.#most);
    return this.#shared.getOrInsertComputed(slice.entries, batch);
  }

  /** The last batch of a failed stream. If a stream ends without it, the daemon is gone. */
  failed(error: ProcsupError): LogBatch {
    return new LogBatch([], this.#most, errorJson(error));
  }
}

/** Feeds for clients: with whole lines, or with those over 8 KiB cut. */
export const BATCHES = { whole: new Batches(Infinity), cut: new Batches(8 * 1024) };
