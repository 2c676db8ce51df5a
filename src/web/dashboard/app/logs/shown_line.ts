/** A line as the view shows it: of JSON and logfmt level, message and dimmed fields. Pure. */

import { lastState, levelOf, readableLine } from "../../../../model/log_level.ts";
import type { LogLevel } from "../../../../model/log_line.ts";
import { ansiRuns, plainLine, type Run } from "./ansi.ts";
import type { LogRow } from "./log_rows.ts";

/** What is shown, and what unfolds. */
interface ShownLine {
  readonly runs: readonly Run[];
  readonly level: LogLevel | undefined;
  /** Lines of its stack trace. */
  readonly trace: readonly string[];
}

/** How lines are shown. */
export interface LineLook {
  /** Whether the time stands before them already. */
  readonly isTimed: boolean;
  /** Whether they are shown as they were written. */
  readonly isRaw: boolean;
}

/** A line may be megabytes long; so much of it is drawn. */
const MAX_DRAWN = 10_000;

const LEVEL_LOOK: Readonly<Record<LogLevel, string>> = {
  debug: "dim",
  info: "fg-2",
  warn: "fg-3",
  error: "fg-1",
};

/** A line in runs of one look. */
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
    // What was escaped in JSON may hold control sequences, too.
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
