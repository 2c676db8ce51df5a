/** Formats a line for display. JSON and logfmt become level, message and dimmed fields. Pure. */

import { lastState, levelOf, readableLine } from "../../../../model/log_level.ts";
import type { LogLevel } from "../../../../model/log_line.ts";
import { ansiRuns, plainLine, type Run } from "./ansi.ts";
import type { LogRow } from "./log_rows.ts";

/** The formatted line, and its stack trace. */
interface ShownLine {
  readonly runs: readonly Run[];
  readonly level: LogLevel | undefined;
  readonly trace: readonly string[];
}

export interface LineLook {
  /** True if the view shows times: time fields are left out. */
  readonly isTimed: boolean;
  /** True to show raw lines. */
  readonly isRaw: boolean;
}

/** Maximum characters shown of a line, which may have megabytes. */
const MAX_DRAWN = 10_000;

const LEVEL_LOOK: Readonly<Record<LogLevel, string>> = {
  debug: "dim",
  info: "fg-2",
  warn: "fg-3",
  error: "fg-1",
};

/** Formats a line as styled runs. */
export function shownLine(
  { text, trace = [] }: Pick<LogRow, "text" | "trace">,
  { isTimed, isRaw }: LineLook,
): ShownLine {
  const last = isRaw ? text : lastState(text);
  const isLong = last.length > MAX_DRAWN;
  const readable = isRaw || isLong ? undefined : readableLine(plainLine(last), isTimed);
  if (readable === undefined) {
    const runs = ansiRuns(isLong ? `${last.slice(0, MAX_DRAWN)} …` : last);
    return { runs, level: levelOf(textOf(runs)), trace };
  }
  const { level, message, fields, stack } = readable;
  const runs = [
    { text: level === undefined ? "" : `${level.toUpperCase().padEnd(5)} `, look: look(level) },
    // Escapes in JSON may decode to control sequences.
    ...ansiRuns(message.replaceAll("\n", " ⏎ ")),
    { text: fields === "" ? "" : ` ${plainLine(fields)}`, look: "dim" },
  ].filter(({ text }) => text !== "");
  return { runs, level, trace: [...stack, ...trace] };
}

function look(level: LogLevel | undefined): string {
  return level === undefined ? "" : LEVEL_LOOK[level];
}

export function textOf(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join("");
}
