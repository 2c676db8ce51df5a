/** Lines of logs as people read them at a terminal. */

import { isTimeField, lastState, structuredLine } from "../model/log_level.ts";
import { plainText } from "../model/plain_text.ts";
import { dimmed, paintLevel } from "./paint.ts";

/**
 * A line of JSON or logfmt as level, message and dimmed fields, its stack trace below; any other line as
 * a terminal would show it in the end. `isTimed`: the time stands before it already.
 */
export function readableLine(line: string, isTimed: boolean, color: boolean): string {
  const last = lastState(line);
  const structured = structuredLine(plainText(last));
  if (structured === undefined) return last;
  const { level, message, fields, stack } = structured;
  const shown = fields.filter(([key]) => !isTimed || !isTimeField(key))
    .map(([key, value]) => `${key}=${/[\s"=]/.test(value) ? JSON.stringify(value) : value}`);
  const head = level === undefined ? message : `${paintLevel(level, color)} ${message}`;
  const text = shown.length === 0 ? head : `${head} ${dimmed(shown.join(" "), color)}`;
  const below = stack?.split("\n").map((line) => dimmed(line, color)) ?? [];
  return [text, ...below].join("\n");
}
