/** Which lines of a log are wanted. */

import { ProcsupError } from "../model/errors.ts";
import { LevelReader, reaches } from "../model/log_level.ts";
import { LOG_LEVELS, type LogLevel } from "../model/log_line.ts";
import { parseMoment } from "../model/moment.ts";
import { quote } from "../model/quote.ts";
import { plainText } from "../model/plain_text.ts";
import { type LinePattern, linePattern } from "./line_pattern.ts";

/** As a client says it. */
export interface LogFilterInput {
  /** A time (ISO 8601, `23:40`, `yesterday`), or how long ago (`10m`): lines from then on. */
  readonly since?: string | Date;
  /** The same: lines up to then. */
  readonly until?: string | Date;
  /** A regular expression that the line must match. */
  readonly grep?: string | RegExp;
  /** Lines that do not match, instead. */
  readonly invert?: boolean;
  /** Capital and small letters match each other. */
  readonly ignoreCase?: boolean;
  /** Lines of that level and graver ones, with their stack traces. */
  readonly level?: LogLevel;
}

/** Whether the next line will do, see `LinePattern.scan()`. */
export type LineMatcher = (line: string) => Generator<void, boolean>;

/** As it is worked with. Times in milliseconds since the epoch. */
export interface LogFilter {
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Makes what says whether the lines of one log will do, in their order; undefined when all will. */
  readonly matcher: (() => LineMatcher) | undefined;
  /** Resolves when lines can be matched. Throws `bad_request`. */
  ready(): Promise<void>;
}

/** Reads a filter; undefined when it lets everything through. Throws `bad_request`. */
export function parseLogFilter(input: LogFilterInput, now: number): LogFilter | undefined {
  const { since, until, grep, level, invert = false, ignoreCase = false } = input;
  if (grep !== undefined && typeof grep !== "string" && !(grep instanceof RegExp)) {
    throw new ProcsupError("bad_request", `Invalid "grep" ${quote(grep)}: expected an expression`);
  }
  if (level !== undefined && !LOG_LEVELS.includes(level)) {
    const known = LOG_LEVELS.join(", ");
    throw new ProcsupError("bad_request", `Invalid "level" ${quote(level)}: expected ${known}`);
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
  return {
    ...lineFilter(pattern, { invert, level }),
    since: since === undefined ? undefined : parseMoment("since", since, now),
    until: until === undefined ? undefined : parseMoment("until", until, now),
  };
}

/** The lines that match, whenever they were written. */
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
    ready: () => pattern?.ready() ?? Promise.resolve(),
  };
}

/** Colours in the midst of a line are no part of what people read, and look for. */
function* matchesAsRead(
  pattern: LinePattern,
  line: string,
  invert: boolean,
): Generator<void, boolean> {
  const found = (yield* pattern.scan(line)) ||
    (line.includes("\x1b") && (yield* pattern.scan(plainText(line))));
  return found !== invert;
}
