/** A line of a log as people read it, for `logs`, `run` and `top`. */

import { lastState, readableLine } from "../model/log_level.ts";
import { plainText } from "../model/plain_text.ts";
import { paintLevel, styleOf } from "./paint.ts";

interface LogText {
  readonly text: string;
  /** The stack trace inside it, dimmed. */
  readonly stack: readonly string[];
}

/**
 * JSON or logfmt as level, message and dimmed fields; any other line as a terminal would finally show
 * it. `isTimed`: the time is shown already.
 */
export function readableText(
  line: string,
  { color, isTimed }: { readonly color: boolean; readonly isTimed: boolean },
): LogText {
  const last = lastState(line);
  const readable = readableLine(plainText(last), isTimed);
  if (readable === undefined) return { text: last, stack: [] };
  const { dim } = styleOf(color);
  const { level, message, fields, stack } = readable;
  const head = level === undefined ? message : `${paintLevel(level, color)} ${message}`;
  return { text: fields === "" ? head : `${head} ${dim(fields)}`, stack: stack.map(dim) };
}
