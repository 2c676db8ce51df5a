/** Formats a documentation page for a terminal. */

import { tableLines } from "./columns.ts";
import { wordWrap } from "./text_width.ts";

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;

/**
 * Formats Markdown for a terminal of `width` columns (undefined: a pipe): bold headings, indented
 * examples, tables without borders, links as the commands that show their page.
 */
export function pageLines(markdown: string, color: boolean, width?: number): string {
  const bold = (text: string) => color ? `\x1b[1m${text}\x1b[0m` : text;
  const lines: string[] = [];
  const blocks = markdown.replace(/<!--[^]*?-->\n*/g, "").matchAll(BLOCKS);
  for (const { groups: { code, table, heading, text } = {} } of blocks) {
    if (code !== undefined) lines.push(code.replace(/^(?=.)/gm, "    ").trimEnd());
    else if (table !== undefined) lines.push(...tableText(table, width));
    else if (heading !== undefined) lines.push(bold(inline(heading)));
    else lines.push(paragraph(inline(text ?? ""), width));
  }
  return lines.join("\n");
}

/** A text block begins at a line of text, or at an item of a list. */
const BLOCKS =
  /^```\w*\n(?<code>[^]*?)^```$|(?<table>(?:^\|.*\|$\n?)+)|^#+ (?<heading>.*)$|^(?<text>.+(?:\n(?!- |\d+\. |```|\||#+ ).+)*)$|^$/gm;

/** Breaks lines at `width`, or leaves them as they are in a pipe. */
function paragraph(text: string, width?: number): string {
  if (width === undefined) return text;
  const marker = text.match(/^(?:-|\d+\.) +/)?.[0] ?? "";
  const room = Math.min(width, MAX_WIDTH) - marker.length;
  return marker + wordWrap(text.slice(marker.length), room, " ".repeat(marker.length));
}

/** Links to pages become commands; others keep their address. */
function inline(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\((\w+)\.md(?:#[\w-]+)?\)/g, "$1 (procsup help $2)")
    .replace(/\[([^\]]*)\]\((http[^)]*)\)/g, "$1 ($2)")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("\\|", "|");
}

function tableText(table: string, width = Infinity): string[] {
  const [header = [], , ...rows] = table.trimEnd().split("\n")
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => inline(cell.trim())));
  const columns = header.map((title, index) => ({
    header: title,
    priority: 0,
    value: (row: readonly string[]) => row[index]!,
  }));
  const lines = tableLines(columns, rows);
  if (Math.max(...lines.map((line) => line.length)) <= width) return lines;
  // Too wide: print each row as a paragraph.
  return rows.flatMap(([first = "", ...others]) => [
    first,
    ...others.flatMap((cell, index) =>
      cell === "" ? [] : [`    ${wordWrap(`${header[index + 1]}: ${cell}`, width - 6, "      ")}`]
    ),
  ]);
}
