/** Text on a terminal: made safe, measured, padded and wrapped. */

import { colorText, isPrintableAscii, isUnsafe, plainText } from "../model/plain_text.ts";

// deno-lint-ignore no-control-regex
const COLORS = /\x1b\[[0-9;:]*m/g;
/**
 * Removes control sequences: text cannot move the cursor, set a title, hide or reorder words. `color`
 * keeps its colours.
 */
export function terminalText(text: string, color: boolean): string {
  if (!isUnsafe(text)) return text;
  // Line by line: an unterminated sequence hides only the rest of its line.
  return text.split("\n").map(color ? colorText : plainText).join("\n");
}

/**
 * Characters of width 0 (also the later parts of a Hangul syllable), and of width 2: flags, East
 * Asian wide and fullwidth forms, and emoji.
 */
const NOTHING = "^[\\p{Mn}\\p{Me}\\p{Cf}\\u{1160}-\\u{11ff}]";
const WIDE = "^(?:\\p{RI}{2}|" +
  "[\\u{1100}-\\u{115f}\\u{2e80}-\\u{303e}\\u{3041}-\\u{33ff}\\u{3400}-\\u{4dbf}\\u{4e00}-\\u{9fff}" +
  "\\u{a000}-\\u{a4cf}\\u{ac00}-\\u{d7a3}\\u{f900}-\\u{faff}\\u{fe30}-\\u{fe6f}\\u{ff00}-\\u{ff60}" +
  "\\u{ffe0}-\\u{ffe6}\\u{20000}-\\u{3fffd}\\p{Emoji_Presentation}])$";

/** Compiled on demand: that takes a millisecond. */
let unusual: Readonly<Record<"characters" | "nothing" | "wide", RegExp>> | undefined;

/** Columns that `text` takes; colours take none. */
export function textWidth(text: string): number {
  // Fast path for nearly every text.
  if (isPrintableAscii(text)) return text.length;
  const plain = text.replace(COLORS, "");
  if (isPrintableAscii(plain)) return plain.length;
  unusual ??= {
    characters: /\p{RI}{2}|[^]/gu,
    nothing: new RegExp(NOTHING, "u"),
    wide: new RegExp(WIDE, "u"),
  };
  let width = 0;
  for (const character of plain.match(unusual.characters) ?? []) {
    if (!unusual.nothing.test(character)) width += unusual.wide.test(character) ? 2 : 1;
  }
  return width;
}

/** Pads a text with spaces to `width` columns. */
export function pad(text: string, width: number, align: "left" | "right"): string {
  const spaces = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "left" ? text + spaces : spaces + text;
}

/**
 * Breaks a text between words into lines of at most `width` columns, and puts `indent` before all
 * but the first. Code in backticks is not broken.
 */
export function wordWrap(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (textWidth(longer) <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.join(`\n${indent}`);
}
