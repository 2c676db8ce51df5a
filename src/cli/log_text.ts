/** A line of a log as people read it, for `logs`, `run` and `top`. */

import { markOf, readableText } from "../model/log_level.ts";
import type { LogLine } from "../model/log_line.ts";
import { paintLevel, styleOf } from "./paint.ts";

export interface LogText {
  readonly text: string;
  /** The stack trace inside it, dimmed. */
  readonly stack: readonly string[];
  readonly mark: string;
}

/** See `readableText()`. `isTimed`: the time is shown beside the line. */
export function logText(
  { line, at, stream }: Pick<LogLine, "line" | "at" | "stream">,
  { color, isTimed }: { readonly color: boolean; readonly isTimed: boolean },
): LogText {
  const { level, word, message, fields, stack } = readableText(
    line,
    isTimed ? Date.parse(at) : undefined,
  );
  const { bad, dim } = styleOf(color);
  const head = word === undefined ? message : `${paintLevel(word, color)} ${message}`;
  const mark = markOf(level, stream);
  return {
    text: fields === "" ? head : `${head} ${dim(fields)}`,
    stack: stack.map(dim),
    mark: mark === "!" ? bad(mark) : mark === " " ? mark : dim(mark),
  };
}
