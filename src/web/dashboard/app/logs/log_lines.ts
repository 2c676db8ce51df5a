/** The lines of a log: folded, formatted and measured. Pure. */

import { EntryReader, levelOf, readableText } from "../../../../model/log_level.ts";
import type { LogLevel, LogStream } from "../../../../model/log_line.ts";
import { bytes } from "../data/format.ts";
import type { RowLayout } from "../controls/row_layout.ts";
import { ansiRuns, plainLine, type Run } from "./ansi.ts";

export interface LogRow {
  readonly seq: number;
  readonly name: string;
  readonly stream: LogStream;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The raw text. */
  text: string;
  /** Position after it in its log, by which a link finds it. */
  end: number;
  /** Position before it, if `text` is only the beginning of a long line. */
  start?: number | undefined;
  /** Shown in its place: the exception that a traceback ends with. */
  headline?: string | undefined;
  /** True if the next line of its log continues it, such as a prompt or a progress bar. */
  partial?: boolean | undefined;
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

/** Folds stack traces into their first lines. Takes the lines in their order. */
export class Folder {
  readonly #entries = new Map<string, Entry>();

  /** Forgets previous lines. */
  clear(): void {
    this.#entries.clear();
  }

  /** Folds a line into the error it belongs to. Returns false if it belongs to none. */
  fold(line: LogRow, isRaw = false): boolean {
    line.trace = line.headline = undefined;
    if (isRaw) return false;
    const key = `${line.name}\n${line.stream}`;
    const entry = this.#entries.get(key) ?? { reader: new EntryReader() };
    this.#entries.set(key, entry);
    const text = line.text.includes("\x1b") ? plainLine(line.text) : line.text;
    const part = entry.reader.partOf(text);
    if (part === "first") {
      entry.head = line;
      entry.isError = undefined;
      return false;
    }
    const { head } = entry;
    if (head === undefined) return false;
    entry.isError ??= levelOf(plainLine(head.text)) === "error";
    if (!entry.isError) return false;
    (head.trace ??= []).push(line.text);
    if (part === "last") head.headline = line.text;
    return true;
  }
}

/** A line that is not in a view yet. */
export type NewRow = Omit<LogRow, "seq">;

/** The formatted line, and its stack trace. */
interface ShownLine {
  readonly runs: readonly Run[];
  readonly level: LogLevel | undefined;
  readonly trace: readonly string[];
}

export interface LineLook {
  /** True if the view shows times: time fields are left out. */
  readonly isTimed: boolean;
  readonly isRaw: boolean;
}

/** Maximum characters shown of a line that was joined from its pieces. */
const MAX_DRAWN = 8 * 1024;

const LEVEL_LOOK: Readonly<Record<LogLevel, string>> = {
  debug: "dim",
  info: "fg-2",
  warn: "fg-3",
  error: "fg-1",
};

/** Formats a line as styled runs. JSON and logfmt become level, message and dimmed fields. */
export function shownLine(
  line: Pick<LogRow, "text" | "trace" | "headline" | "at" | "start" | "end">,
  { isTimed, isRaw }: LineLook,
): ShownLine {
  const { text, headline = text, trace = [], start, end, at } = line;
  const drawn = isRaw ? text : headline;
  const size = start === undefined ? drawn.length : end - start;
  if (isRaw || size > MAX_DRAWN) {
    const shown = size > MAX_DRAWN ? `${drawn.slice(0, MAX_DRAWN)} … ${bytes(size)}` : drawn;
    return { runs: ansiRuns(shown), level: levelOf(plainLine(text)), trace };
  }
  const { level, word, message, fields, stack } = readableText(drawn, isTimed ? at : undefined);
  const runs = [
    { text: word === undefined ? "" : `${word.toUpperCase().padEnd(5)} `, look: look(word) },
    // Escapes in JSON may decode to control sequences.
    ...ansiRuns(message.replaceAll("\n", " ⏎ ")),
    { text: fields === "" ? "" : ` ${plainLine(fields)}`, look: "dim" },
  ].filter(({ text }) => text !== "");
  const whole = headline === text ? level : levelOf(plainLine(text));
  return { runs, level: whole, trace: [...stack, ...trace] };
}

function look(level: LogLevel | undefined): string {
  return level === undefined ? "" : LEVEL_LOOK[level];
}

export function textOf(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join("");
}

/** Height of one row in pixels, as in logs.css. */
export const ROW_PX = 20;

/** Positions and heights of the lines of a log. */
export class RowHeights implements RowLayout {
  readonly #columns: number;
  readonly #look: LineLook;
  /** Number of rows before each line; the last entry is the total. */
  #before = new Uint32Array(1024);
  #lines: readonly LogRow[] = [];
  #count = 0;
  #dropped = 0;

  /** `columns` is the number of characters per row; 0 without wrapping. */
  constructor(columns: number, look: LineLook) {
    this.#columns = columns;
    this.#look = look;
  }

  /**
   * Measures the lines that were added to an array, or all of another array. `dropped` is the number
   * of lines removed from the top so far, less those added there. Returns the height in pixels of
   * those removed since the last call, negative of those added.
   */
  update(lines: readonly LogRow[], dropped: number): number {
    const added = this.#dropped - dropped;
    const cut = this.top(Math.min(Math.max(0, -added), this.#count));
    this.#dropped = dropped;
    if (this.#columns === 0) {
      this.#count = lines.length;
      return added > 0 ? -added * ROW_PX : cut;
    }
    if (lines !== this.#lines) this.#count = 0;
    this.#lines = lines;
    if (this.#before.length <= lines.length) {
      const larger = new Uint32Array(Math.max(lines.length + 1, this.#before.length * 2));
      larger.set(this.#before);
      this.#before = larger;
    }
    for (let i = this.#count; i < lines.length; i++) {
      this.#before[i + 1] = this.#before[i]! + this.#rowsOf(lines[i]!);
    }
    this.#count = lines.length;
    return added > 0 ? -this.top(added) : cut;
  }

  #rowsOf(line: LogRow): number {
    if (line.text.length <= this.#columns && isNarrow(line.text)) return 1;
    const text = textOf(shownLine(line, this.#look).runs);
    return Math.max(1, Math.ceil(widthOf(text) / this.#columns));
  }

  get count(): number {
    return this.#count;
  }

  get height(): number {
    return this.top(this.#count);
  }

  top(index: number): number {
    return (this.#columns === 0 ? index : this.#before[index]!) * ROW_PX;
  }

  at(px: number): number {
    const row = Math.max(0, Math.floor(px / ROW_PX));
    if (this.#columns === 0) return Math.min(row, Math.max(0, this.#count - 1));
    let [low, high] = [0, this.#count];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.#before[middle]! <= row) low = middle;
      else high = middle;
    }
    return low;
  }
}

const NARROW = /^[\x20-\x7e]*$/;

function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

/** Width of a text in columns. East Asian characters and emoji take two. */
function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  let width = 0;
  for (const char of text) width += char.codePointAt(0)! >= 0x1100 ? 2 : 1;
  return width;
}
