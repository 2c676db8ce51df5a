/** Lines of logs as people read them at a terminal. */

import { lastState, readableLine } from "../model/log_level.ts";
import { plainText } from "../model/plain_text.ts";
import { dimmed, paintLevel } from "./paint.ts";

/**
 * A line of JSON or logfmt as level, message and dimmed fields, its stack trace below; any other line as
 * a terminal would show it in the end. `isTimed`: the time stands before it already.
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
