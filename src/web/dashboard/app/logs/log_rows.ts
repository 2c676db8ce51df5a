/** Lines of a log as rows: the rest of a stack trace is folded into its first line. Pure. */

import { EntryReader, levelOf } from "../../../../model/log_level.ts";
import type { LogStream } from "../../../../model/log_line.ts";
import { plainLine } from "./ansi.ts";

/** One line. */
export interface LogRow {
  /** Grows by one a line. */
  readonly seq: number;
  readonly name: string;
  readonly stream: LogStream;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** As the app wrote it. */
  readonly text: string;
  /** Lines that belong to it and are folded away: the rest of a stack trace. */
  trace?: string[] | undefined;
}

/** How the lines of an app's stream are put together. */
interface Entry {
  readonly reader: EntryReader;
  /** Its first line. */
  head?: LogRow;
  /** Whether it is an error; undefined until a second line asks. */
  isError?: boolean | undefined;
}

/** Folds lines, which come in their order. */
export class Folder {
  readonly #entries = new Map<string, Entry>();

  /** Forgets what came before. */
  clear(): void {
    this.#entries.clear();
  }

  /** Folds a line into the error that it belongs to. Returns whether it did. */
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
