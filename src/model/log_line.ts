/** Types of log lines, the same on every surface. */

/** One of an app's two logs. */
export type LogStream = "stdout" | "stderr";

/** Level of a line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What an app or another program did to a log. */
export type LogTrouble = "truncated" | "moved";

/** The same for people. */
export const LOG_TROUBLES: Readonly<Record<LogTrouble, string>> = {
  truncated: "its log was truncated, by itself or by another program: what was there is lost. " +
    "With log.pipe: auto its next run writes through pipes, which keep every line",
  moved: "its log was renamed, removed or replaced: it writes to the old file until it is " +
    "restarted, so a program that rotates it must copy and truncate",
};

/** Levels from the least to the most severe. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

/** Maximum number of last lines that a client may ask for. */
export const MAX_LINES = 10_000;

/** One line of a log. */
export interface LogLine {
  /** Name of the process. */
  readonly name: string;
  /** The log that it was written to. */
  readonly stream: LogStream;
  /** Text without the line break. */
  readonly line: string;
  /** Time of writing in ISO 8601, as precise as the time index. */
  readonly at: string;
  /** True for a piece of a line over 64 KiB. The next line of this log continues it. */
  readonly partial?: true;
  /** Its length in bytes, if `line` is only its beginning. */
  readonly cut?: number;
  /** Position after the line: it never changes, whatever is cut off the log before it. */
  readonly end: number;
}

/** In place of lines that were removed from a log before they were read. */
export interface LogGap extends LogName {
  /** How many bytes; null if the log was truncated by another program. */
  readonly lost: number | null;
  readonly at: string;
  /** Position after them. */
  readonly end: number;
}

/** Identifies a log. */
export type LogName = Pick<LogLine, "name" | "stream">;

/** Positions by `positionKey()`, from which a reader can resume. */
export type LogPositions = Readonly<Record<string, number>>;

/** Where the lines that a client got end, and where they begin. */
export interface LogStart {
  /** Lines from these positions on come later. */
  readonly positions: LogPositions;
  /** Older lines are before these positions. A log without them is missing. */
  readonly before: LogPositions;
}

/** The key of a log in `LogPositions`. */
export function positionKey({ name, stream }: LogName): string {
  return `${name}/${stream}`;
}

/** The position of a log, or undefined. Scaling renames the log of a single process to `:0`. */
export function positionOf(positions: LogPositions, { name, stream }: LogName): number | undefined {
  const before = name.replace(/:0$/, "");
  return positions[positionKey({ name, stream })] ??
    positions[positionKey({ name: before, stream })];
}

/** A filter for log lines. */
export interface LineFilter {
  /** Start of the period, archives included: a time, or an age (`"10m"`). */
  readonly since?: string | Date;
  /** End of the period. */
  readonly until?: string | Date;
  /** Lines that match a regular expression in RE2 syntax. */
  readonly grep?: string;
  /** With `grep`: lines that do not match. */
  readonly invert?: boolean;
  /** With `grep`: ignore case. */
  readonly ignoreCase?: boolean;
  /** Lines of this level or a more severe one, with their stack traces. */
  readonly level?: LogLevel;
}
