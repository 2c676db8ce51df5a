/** Cuts the bytes of a log into lines with their times and positions. */

import type { LogLevel } from "../../model/log_line.ts";
import type { EntryPart } from "../../model/log_level.ts";
import { type EmitLine, type LinePiece, LineSplitter, NEWLINE } from "./line_splitter.ts";

export interface LogEntry {
  readonly line: string;
  /** When it was written, in milliseconds since the epoch, as exact as the time index. */
  readonly at: number;
  /** Position of its first byte, see `log_position.ts`. */
  readonly start: number;
  /** Position after it, from which a reader can resume. */
  readonly end: number;
  /** A piece of a line that is long or not finished yet, which the next entry continues. */
  readonly partial?: true;
  /** A piece that continues the entry before it. */
  readonly continues?: true;
  /** A character for each byte of the line but the `\n`; only with `exact`. */
  readonly bytes?: string;
  /**
   * Instead of a line, the number of bytes from `start` to `end` that were removed before they were
   * read; null if the log was truncated by another program.
   */
  readonly lost?: number | null;
  /** What it is in its message, such as a stack trace; only if asked for. */
  readonly meaning?: LineMeaning;
}

export interface LineMeaning {
  readonly level: LogLevel | undefined;
  readonly part: EntryPart;
  /** Position of the first line of the message. */
  readonly head: number;
}

export class EntryCutter {
  readonly splitter: LineSplitter;
  /** True while the next bytes are the rest of a line to skip. */
  skips = false;

  /** With `exact`, lines come with their bytes. */
  constructor(exact = false) {
    this.splitter = new LineSplitter(exact);
  }

  /** The lines that end in a chunk; without one, the unfinished last line. `position` is the end. */
  cut(
    chunk: Uint8Array | undefined,
    position: number,
    timeAt: (end: number) => number,
  ): LogEntry[] {
    const kept = chunk && this.#afterSkipped(chunk);
    let start = position - (kept?.length ?? 0) - this.splitter.waiting;
    const entries: LogEntry[] = [];
    const emit: EmitLine = (line, end, piece) => {
      entries.push({ line, at: timeAt(end), start, end, ...marksOf(piece) });
      start = end;
    };
    if (kept === undefined) this.splitter.end(position, emit);
    else this.splitter.add(kept, position, emit);
    return entries;
  }

  #afterSkipped(chunk: Uint8Array): Uint8Array {
    if (!this.skips) return chunk;
    const newline = chunk.indexOf(NEWLINE);
    this.skips = newline < 0;
    return chunk.subarray(newline < 0 ? chunk.length : newline + 1);
  }
}

/** What an entry says about its piece: most are whole lines and need no memory for it. */
export function marksOf(
  { partial, continues, bytes }: LinePiece,
): Pick<LogEntry, "partial" | "continues" | "bytes"> {
  return {
    ...(partial && { partial }),
    ...(continues && { continues }),
    ...(bytes !== undefined && { bytes }),
  };
}
