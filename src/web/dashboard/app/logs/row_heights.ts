/** Where the lines of a log stand: all of one height, or as many rows as they wrap to. */

import type { LogRow } from "./log_rows.ts";
import { type LineLook, shownLine, textOf } from "./shown_line.ts";

/** Height of one row in pixels; the style sheet says the same. */
export const ROW_PX = 20;

/** Positions of lines in a list that is not wrapped. */
export class RowHeights {
  readonly #columns: number;
  readonly #look: LineLook;
  /** Rows before each line, and after the last one. */
  #before = new Uint32Array(1024);
  #count = 0;
  #dropped = 0;

  /** `columns`: characters a row holds; 0 when lines are not wrapped. */
  constructor(columns: number, look: LineLook) {
    this.#columns = columns;
    this.#look = look;
  }

  /** Takes up lines that came; `dropped` tells how many ever went from the top. */
  update(lines: readonly LogRow[], dropped: number): void {
    if (this.#columns === 0) {
      this.#count = lines.length;
      return;
    }
    if (dropped !== this.#dropped || lines.length < this.#count) this.#count = 0;
    this.#dropped = dropped;
    if (this.#before.length <= lines.length) {
      const larger = new Uint32Array(Math.max(lines.length + 1, this.#before.length * 2));
      larger.set(this.#before);
      this.#before = larger;
    }
    for (let i = this.#count; i < lines.length; i++) {
      this.#before[i + 1] = this.#before[i]! + this.#rowsOf(lines[i]!);
    }
    this.#count = lines.length;
  }

  #rowsOf(line: LogRow): number {
    if (line.text.length <= this.#columns && isNarrow(line.text)) return 1;
    const text = textOf(shownLine(line, this.#look).runs);
    return Math.max(1, Math.ceil(widthOf(text) / this.#columns));
  }

  /** Height of all, in pixels. */
  get height(): number {
    return this.top(this.#count);
  }

  /** Where a line begins, in pixels. */
  top(index: number): number {
    return (this.#columns === 0 ? index : this.#before[index]!) * ROW_PX;
  }

  /** The line at a height. */
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

/** Columns of a text, where letters of East Asia and pictures take two. */
function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  let width = 0;
  for (const char of text) width += char.codePointAt(0)! >= 0x1100 ? 2 : 1;
  return width;
}
