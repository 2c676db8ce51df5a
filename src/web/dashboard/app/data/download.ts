/** Gives lines to the user as a file. */

import { plainLine } from "../text/ansi.ts";
import type { LogLine } from "./log_buffer.ts";

const CHUNK = 20_000;

/** Saves lines as text: with time and name when several apps are in it. */
export function downloadLines(lines: readonly LogLine[], targets: readonly string[]): void {
  const isOne = targets.length === 1;
  const parts: string[] = [];
  // A string has a largest length, a file has not.
  for (let i = 0; i < lines.length; i += CHUNK) {
    parts.push(lines.slice(i, i + CHUNK).map((line) => `${lineText(line, isOne)}\n`).join(""));
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
  link.download = `${isOne ? targets[0]!.replaceAll(":", "-") : "procsup"}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function lineText({ at, name, text }: LogLine, isOne: boolean): string {
  const line = plainLine(text);
  return isOne ? line : `${new Date(at).toISOString()} ${name} ${line}`;
}
