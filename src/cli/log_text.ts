/** Formats log lines for a terminal. */

import { lastState, readableLine } from "../model/log_level.ts";
import { plainText } from "../model/plain_text.ts";
import { dimmed, paintLevel } from "./paint.ts";

/**
 * Shows JSON or logfmt as level, message and dimmed fields, with the stack trace below; any other
 * line as a terminal would finally show it. `isTimed`: its time is printed already.
 */
export function terminalLine(line: string, isTimed: boolean, color: boolean): string {
  const last = lastState(line);
  const readable = readableLine(plainText(last), isTimed);
  if (readable === undefined) return last;
  const { level, message, fields, stack } = readable;
  const head = level === undefined ? message : `${paintLevel(level, color)} ${message}`;
  const text = fields === "" ? head : `${head} ${dimmed(fields, color)}`;
  return [text, ...stack.map((line) => dimmed(line, color))].join("\n");
}
