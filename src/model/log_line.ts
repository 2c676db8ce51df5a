/** Types of log lines, the same on every surface. */

/** Which of an app's two logs. */
export type LogStream = "stdout" | "stderr";

/** Level of a line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Levels from the least to the most severe. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

/** One line of a log. */
export interface LogLine {
  /** Name of the process. */
  readonly name: string;
  /** The log that it was written to. */
  readonly stream: LogStream;
  /** Text without the line break. */
  readonly line: string;
  /** When it was written, as ISO 8601, as exact as the time index. */
  readonly at: string;
  /** Byte position after the line; set only if positions were requested. */
  readonly end?: number;
}

/** Identifies a log. */
export type LogName = Pick<LogLine, "name" | "stream">;

/** Positions by `positionKey()`, from which a reader can resume. */
export type LogPositions = Readonly<Record<string, number>>;

/** Sent before new lines: the position from which each log is followed. */
export interface LogStart {
  readonly positions: LogPositions;
}

/** The key of a log in `LogPositions`. */
export function positionKey({ name, stream }: LogName): string {
  return `${name}/${stream}`;
}

/** What the lines of a log must be like. */
export interface LineFilter {
  /** Lines from then on, archives included: a time, or how long ago (`"10m"`). */
  readonly since?: string | Date;
  /** Lines up to then. */
  readonly until?: string | Date;
  /** Lines that match a regular expression, which is read as RE2. */
  readonly grep?: string;
  /** With `grep`: lines that do not match. */
  readonly invert?: boolean;
  /** With `grep`: capital and small letters match each other. */
  readonly ignoreCase?: boolean;
  /** Lines of that level and graver ones, with their stack traces. */
  readonly level?: LogLevel;
}
