/** Positions and heights of the lines of a log, wrapped or not. */

import type { LogRow } from "./log_rows.ts";
import { type LineLook, shownLine, textOf } from "./shown_line.ts";

/** Height of one row in pixels, as in logs.css. */
export const ROW_PX = 20;

export class RowHeights {
  readonly #columns: number;
  readonly #look: LineLook;
  /** Number of rows before each line; the last entry is the total. */
  #before = new Uint32Array(1024);
  #count = 0;
  #dropped = 0;

  /** `columns` is the number of characters per row; 0 without wrapping. */
  constructor(columns: number, look: LineLook) {
    this.#columns = columns;
    this.#look = look;
  }

  /**
   * Measures new lines. `dropped` is the number of lines removed from the top so far. Returns the
   * height in pixels of those removed since the last call.
   */
  update(lines: readonly LogRow[], dropped: number): number {
    const cut = this.top(Math.min(dropped - this.#dropped, this.#count));
    const isCut = dropped !== this.#dropped;
    this.#dropped = dropped;
    if (this.#columns === 0) {
      this.#count = lines.length;
      return cut;
    }
    if (isCut || lines.length < this.#count) this.#count = 0;
    if (this.#before.length <= lines.length) {
      const larger = new Uint32Array(Math.max(lines.length + 1, this.#before.length * 2));
      larger.set(this.#before);
      this.#before = larger;
    }
    for (let i = this.#count; i < lines.length; i++) {
      this.#before[i + 1] = this.#before[i]! + this.#rowsOf(lines[i]!);
    }
    this.#count = lines.length;
    return cut;
  }

  #rowsOf(line: LogRow): number {
    if (line.text.length <= this.#columns && isNarrow(line.text)) return 1;
    const text = textOf(shownLine(line, this.#look).runs);
    return Math.max(1, Math.ceil(widthOf(text) / this.#columns));
  }

  /** Total height in pixels. */
  get height(): number {
    return this.top(this.#count);
  }

  /** Position of a line in pixels. */
  top(index: number): number {
    return (this.#columns === 0 ? index : this.#before[index]!) * ROW_PX;
  }

  /** The line at a position in pixels. */
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
