/** Lines of logs on their way to clients, some at a time. */

import { type ErrorJson, errorJson } from "../protocol/error_json.ts";
import type { LogEntry } from "../logs/log_entries.ts";
import type { LogFiles } from "../logs/log_files.ts";

/** One line of a log. */
export interface LogLine {
  readonly name: string;
  readonly stream: keyof LogFiles;
  readonly line: string;
  /** When it was written, as ISO 8601: see the time index for how exact that is. */
  readonly at: string;
  /** Position after it, where positions are wanted. */
  readonly end?: number;
}

/** Positions of logs by `positionKey`: what a reader has that goes on later. */
export type LogPositions = Readonly<Record<string, number>>;

/** Says where each log stands whose lines that come follow now. */
export interface LogStart {
  readonly positions: LogPositions;
}

/** Which log it is. */
export type LogName = Pick<LogLine, "name" | "stream">;

/** Name of a log among the positions of several. */
export function positionKey({ name, stream }: LogName): string {
  return `${name}/${stream}`;
}

/** Lines of one log that follow each other. */
export interface Stretch {
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
  constructor(stretches: readonly Stretch[], positions: boolean, failure?: ErrorJson) {
    const text = failure === undefined
      ? stretches.map((one) => textOf(one, positions)).join("")
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

function textOf({ of: { name, stream }, entries }: Stretch, positions: boolean): string {
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
