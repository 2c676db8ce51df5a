/** A line of a log, as every surface has it. */

/** Which of an app's two logs. */
export type LogStream = "stdout" | "stderr";

/** How grave a line is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Levels, the least grave first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

/** One line of a log. */
export interface LogLine {
  /** Of the process. */
  readonly name: string;
  /** Where it was written. */
  readonly stream: LogStream;
  /** Without its end. */
  readonly line: string;
  /** When it was written, as ISO 8601: see the time index for how exact that is. */
  readonly at: string;
  /** Position after it, where positions are wanted. */
  readonly end?: number;
}

/** Which log it is. */
export type LogName = Pick<LogLine, "name" | "stream">;

/** Positions of logs by `positionKey()`: where a reader goes on later. */
export type LogPositions = Readonly<Record<string, number>>;

/** Says where each log stands whose new lines follow. */
export interface LogStart {
  readonly positions: LogPositions;
}

/** Name of a log among the positions of several. */
export function positionKey({ name, stream }: LogName): string {
  return `${name}/${stream}`;
}
