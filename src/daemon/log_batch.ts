/** Lines of logs on their way to clients, some at a time. */

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

/** Name of a log among the positions of several. */
export function positionKey({ name, stream }: Pick<LogLine, "name" | "stream">): string {
  return `${name}/${stream}`;
}

const encoder = new TextEncoder();

/** Lines that travel together; followers of one log share it. */
export class LogBatch {
  readonly lines: readonly LogLine[];
  #ndjson: Uint8Array<ArrayBuffer> | undefined;

  constructor(lines: readonly LogLine[]) {
    this.lines = lines;
  }

  /** A JSON line each, serialized once for all. */
  get ndjson(): Uint8Array<ArrayBuffer> {
    return this.#ndjson ??= encoder.encode(
      this.lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
  }
}
