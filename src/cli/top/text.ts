/** Text of others on one line of the screen: made safe, cut, filled up and broken by columns. */

import { plainText } from "../../model/plain_text.ts";
import { colorText } from "../terminal_text.ts";
import { textWidth } from "../text_width.ts";

/** Characters that turn the direction of a line, or end it, and thereby show another text than there is. */
const DECEIVING = /[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A coloured text comes apart into these: a colour, or one character with the marks on it. */
// deno-lint-ignore no-control-regex
const PIECES = /\x1b\[[0-9;:]*m|\P{M}\p{M}*|\p{M}+/gsu;

// deno-lint-ignore no-control-regex
const ENDS_COLOR = /^\x1b\[0*m$/;

const PLAIN = /^[ -~]*$/;
const RESET = "\x1b[0m";
const TAB = 8;

/** One line without anything but characters that show themselves. Tabs become spaces. */
export function cleanLine(text: string): string {
  return PLAIN.test(text) ? text : oneLine(plainText(text));
}

/** As `cleanLine`, with the colours of the text. */
export function cleanColors(text: string): string {
  return PLAIN.test(text) ? text : oneLine(colorText(text));
}

function oneLine(text: string): string {
  const flat = text.replace(/\n/g, " ").replace(DECEIVING, "");
  if (!flat.includes("\t")) return flat;
  return flat.split("\t").reduce((line, part) =>
    line + " ".repeat(TAB - textWidth(line) % TAB) + part
  );
}

/** The part of a text that takes `width` columns from column `from` on; colours end with it. */
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
    // Half of a wide character is a blank.
    else if (column + wide > from) shown += " ";
    column += wide;
  }
  return colored ? shown + RESET : shown;
}

/** The text, or its beginning and an ellipsis where it is wider than `width`. */
export function shorten(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return width < 1 ? "" : `${cut(text, width - 1)}…`;
}

/** A text in lines of at most `width` columns; a colour goes on in the next one. */
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
