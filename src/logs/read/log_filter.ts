/** Filters lines of logs. */

import { ProcsupError, quote } from "../../model/errors.ts";
import { LevelReader, reaches } from "../../model/log_level.ts";
import { type LineFilter, LOG_LEVELS, type LogLevel } from "../../model/log_line.ts";
import { parseRange } from "../../model/time_spec.ts";
import { plainText } from "../../model/plain_text.ts";
import { type LinePattern, linePattern } from "./line_pattern.ts";

/** A filter as a client writes it. */
interface LogFilterInput extends Omit<LineFilter, "grep"> {
  readonly grep?: string | RegExp;
}

/** Whether the next line passes, see `LinePattern.scan()`. */
export type LineMatcher = (line: string) => Generator<void, boolean>;

/** A filter ready for use. Times are in milliseconds since the epoch. */
export interface LogFilter {
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Makes a matcher for the consecutive lines of one log; undefined if all lines pass. */
  readonly matcher: (() => LineMatcher) | undefined;
  /** True if a line passes with the lines before it: a stack trace has the level of its first line. */
  readonly byEntry: boolean;
  /** Resolves when lines can be matched. Throws `bad_request`. */
  ready(): Promise<void>;
}

/** Parses a filter; undefined if it passes everything. Throws `bad_request`. */
export function parseLogFilter(input: LogFilterInput, now: number): LogFilter | undefined {
  const { since, until, grep, level, invert = false, ignoreCase = false } = input;
  if (grep !== undefined && typeof grep !== "string" && !(grep instanceof RegExp)) {
    throw new ProcsupError("bad_request", `Invalid "grep" ${quote(grep)}: expected an expression`);
  }
  if (level !== undefined && !LOG_LEVELS.includes(level)) {
    const known = LOG_LEVELS.join(", ");
    throw new ProcsupError(
      "bad_request",
      `Invalid "level" ${quote(level)}: expected one of ${known}`,
    );
  }
  for (const [field, given] of Object.entries({ invert, ignore_case: ignoreCase })) {
    if (!given || grep !== undefined) continue;
    throw new ProcsupError("bad_request", `Invalid "${field}": it needs "grep"`);
  }
  if (since === undefined && until === undefined && grep === undefined && level === undefined) {
    return undefined;
  }
  const pattern = grep === undefined
    ? undefined
    : linePattern(grep, { field: "grep", code: "bad_request" }, ignoreCase);
  return { ...lineFilter(pattern, { invert, level }), ...parseRange({ since, until }, now) };
}

/** A filter by pattern and level, for lines of any time. */
export function lineFilter(
  pattern: LinePattern | undefined,
  { invert = false, level }: { invert?: boolean; level?: LogLevel | undefined } = {},
): LogFilter {
  const matcher = () => {
    const levels = new LevelReader();
    return function* (line: string) {
      const isGrave = level === undefined || reaches(levels.of(plainText(line)), level);
      return isGrave && (pattern === undefined || (yield* matchesAsRead(pattern, line, invert)));
    };
  };
  return {
    since: undefined,
    until: undefined,
    matcher: pattern === undefined && level === undefined ? undefined : matcher,
    byEntry: level !== undefined,
    ready: () => pattern?.ready() ?? Promise.resolve(),
  };
}

/** Also matches without color codes, as people read the line. */
function* matchesAsRead(
  pattern: LinePattern,
  line: string,
  invert: boolean,
): Generator<void, boolean> {
  const found = (yield* pattern.scan(line)) ||
    (line.includes("\x1b") && (yield* pattern.scan(plainText(line))));
  return found !== invert;
}
