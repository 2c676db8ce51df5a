/** Folds stack traces of logs into their first lines. Pure. */

import { EntryReader, levelOf } from "../../../../model/log_level.ts";
import type { LogStream } from "../../../../model/log_line.ts";
import { plainLine } from "./ansi.ts";

export interface LogRow {
  /** Sequence number. */
  readonly seq: number;
  readonly name: string;
  readonly stream: LogStream;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The raw text. */
  readonly text: string;
  /** Lines folded into it: the rest of a stack trace. */
  trace?: string[] | undefined;
}

/** The current entry of a stream of an app. */
interface Entry {
  readonly reader: EntryReader;
  /** Its first line. */
  head?: LogRow;
  /** Whether it is an error; undefined before its second line. */
  isError?: boolean | undefined;
}

/** Folds lines, passed in their order. */
export class Folder {
  readonly #entries = new Map<string, Entry>();

  /** Forgets previous lines. */
  clear(): void {
    this.#entries.clear();
  }

  /** Folds a line into the error it belongs to. Returns false if it belongs to none. */
  fold(line: LogRow, isRaw = false): boolean {
    line.trace = undefined;
    if (isRaw) return false;
    const key = `${line.name}\n${line.stream}`;
    const entry = this.#entries.getOrInsertComputed(key, newEntry);
    const text = line.text.includes("\x1b") ? plainLine(line.text) : line.text;
    if (entry.reader.partOf(text) === "first") {
      entry.head = line;
      entry.isError = undefined;
      return false;
    }
    const { head } = entry;
    if (head === undefined) return false;
    entry.isError ??= levelOf(plainLine(head.text)) === "error";
    if (entry.isError) (head.trace ??= []).push(line.text);
    return entry.isError;
  }
}

function newEntry(): Entry {
  return { reader: new EntryReader() };
}
