/** Batches of log lines for clients. */

import { type ErrorJson, errorJson } from "../protocol/error_json.ts";
import type { LogSlice } from "../logs/merged_logs.ts";
import type { LogLine } from "../model/log_line.ts";

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

  /** With `positions`, every line carries its end position. */
  constructor(slices: readonly LogSlice[], positions: boolean, failure?: ErrorJson) {
    const text = failure === undefined
      ? slices.map((one) => textOf(one, positions)).join("")
      : `${JSON.stringify(failure)}\n`;
    this.ndjson = encoder.encode(text);
    this.failure = failure;
  }

  /** The last batch of a stream that failed. */
  static failed(error: unknown): LogBatch {
    return new LogBatch([], false, errorJson(error));
  }

  get lines(): LogLine[] {
    const texts = new TextDecoder().decode(this.ndjson).split("\n");
    return texts.slice(0, -1).map((text) => JSON.parse(text));
  }
}

function textOf({ of: { name, stream }, entries }: LogSlice, positions: boolean): string {
  const head = `{"name":${JSON.stringify(name)},"stream":"${stream}","line":`;
  let [time, iso] = [NaN, ""];
  let text = "";
  for (const { line, at, end, partial } of entries) {
    if (at !== time) [time, iso] = [at, new Date(at).toISOString()];
    const position = positions ? `,"end":${end}` : "";
    const piece = partial ? ',"partial":true' : "";
    text += `${head}${JSON.stringify(line)},"at":"${iso}"${position}${piece}}\n`;
  }
  return text;
}
