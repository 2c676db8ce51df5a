/** Untrusted text on the screen: sanitized, cut, padded and wrapped by columns. */

import { colorText, plainText } from "../../model/plain_text.ts";
import { textWidth } from "../terminal_text.ts";

/** Matches a colour sequence, or one character with its combining marks. */
// deno-lint-ignore no-control-regex
const PIECES = /\x1b\[[0-9;:]*m|\P{M}\p{M}*|\p{M}+/gsu;

// deno-lint-ignore no-control-regex
const ENDS_COLOR = /^\x1b\[0*m$/;

const PLAIN = /^[ -~]*$/;
const RESET = "\x1b[0m";
const TAB = 8;

/** One line of printable characters. Tabs become spaces. */
export function cleanLine(text: string): string {
  return PLAIN.test(text) ? text : oneLine(plainText(text));
}

/** Like `cleanLine`, but keeps colours. */
export function cleanColors(text: string): string {
  return PLAIN.test(text) ? text : oneLine(colorText(text));
}

function oneLine(text: string): string {
  const flat = text.replace(/\n/g, " ");
  if (!flat.includes("\t")) return flat;
  let [line, column] = ["", 0];
  for (const [index, part] of flat.split("\t").entries()) {
    const gap = index === 0 ? 0 : TAB - column % TAB;
    line += " ".repeat(gap) + part;
    column += gap + textWidth(part);
  }
  return line;
}

/** The `width` columns of a text from column `from`; resets colours at its end. */
export function cut(text: string, width: number, from = 0): string {
  if (PLAIN.test(text)) return text.slice(from, from + width);
  let shown = "";
  let column = 0;
  let colored = false;
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece.startsWith("\x1b")) {
      shown += piece;
      colored = !ENDS_COLOR.test(piece);
      continue;
    }
    const wide = textWidth(piece);
    if (column + wide > from + width) break;
    if (column >= from) shown += piece;
    // Half a wide character becomes a space.
    else if (column + wide > from) shown += " ";
    column += wide;
  }
  return colored ? shown + RESET : shown;
}

/** Shortens a text to `width` columns with an ellipsis. */
export function shorten(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width < 1 ? "" : `${cut(text, width - 1)}…`;
}

/** Wraps a text at `width` columns; colours continue on the next line. */
export function wrap(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  let [line, column, color] = ["", 0, ""];
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece.startsWith("\x1b")) {
      color = ENDS_COLOR.test(piece) ? "" : color + piece;
      line += piece;
      continue;
    }
    const wide = textWidth(piece);
    if (column + wide > width && column > 0) {
      lines.push(color === "" ? line : line + RESET);
      [line, column] = [color, 0];
    }
    line += piece;
    column += wide;
  }
  return [...lines, line];
}

const BLOCKS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A sparkline of `width` blocks, newest on the right. `max` is a full block. */
export function sparkline(values: readonly number[], width: number, max: number): string {
  return area(values, width, 1, max)[0]!;
}

/** The same, `height` lines high, top line first. Values above 0 are always visible. */
export function area(
  values: readonly number[],
  width: number,
  height: number,
  max: number,
): string[] {
  const shown = values.slice(-width);
  const blank = " ".repeat(Math.max(0, width - shown.length));
  const eighths = shown.map((value) => {
    const part = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
    return part > 0 ? Math.max(1, Math.round(part * height * 8)) : 0;
  });
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * 8;
    return blank + eighths.map((e) => BLOCKS[Math.min(8, Math.max(0, e - below))]).join("");
  });
}
