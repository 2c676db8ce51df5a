/** Lines of logs on their way to clients, some at a time. */

import { type ErrorJson, errorJson } from "../protocol/error_json.ts";
import type { LogEntry } from "../logs/log_entries.ts";
import type { LogLine, LogName } from "../model/log_line.ts";

/** Lines of one log that follow each other. */
export interface LogSlice {
  readonly of: LogName;
  readonly entries: readonly LogEntry[];
}

const encoder = new TextEncoder();

/**
 * Lines that travel together; followers of one log share it. It is made of their text at once: lines
 * as objects would wait for their client in the thousands.
 */
export class LogBatch {
  /** A JSON line each. */
  readonly ndjson: Uint8Array<ArrayBuffer>;
  /** What ended the stream; the only line then. */
  readonly failure: ErrorJson | undefined;

  /** `positions`: every line tells where it ends. */
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

  /** The lines. */
  get lines(): LogLine[] {
    const texts = new TextDecoder().decode(this.ndjson).split("\n");
    return texts.slice(0, -1).map((text) => JSON.parse(text));
  }
}

function textOf({ of: { name, stream }, entries }: LogSlice, positions: boolean): string {
  const head = `{"name":${JSON.stringify(name)},"stream":"${stream}","line":`;
  let [time, iso] = [NaN, ""];
  let text = "";
  for (const { line, at, end } of entries) {
    if (at !== time) [time, iso] = [at, new Date(at).toISOString()];
    const position = positions ? `,"end":${end}` : "";
    text += `${head}${JSON.stringify(line)},"at":"${iso}"${position}}\n`;
  }
  return text;
}
