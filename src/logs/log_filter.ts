/** Which lines of a log are wanted. */

import { ProcsupError } from "../model/errors.ts";
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
}

/** As it is worked with. Times in milliseconds since the epoch. */
export interface LogFilter {
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Whether a line will do, see `LinePattern.scan()`; undefined when every line will. */
  readonly matches: ((line: string) => Generator<void, boolean>) | undefined;
  /** Resolves when `matches` can be called. Throws `bad_request`. */
  ready(): Promise<void>;
}

/** Reads a filter; undefined when it lets everything through. Throws `bad_request`. */
export function parseLogFilter(input: LogFilterInput, now: number): LogFilter | undefined {
  const { since, until, grep, invert = false } = input;
  if (grep !== undefined && typeof grep !== "string" && !(grep instanceof RegExp)) {
    throw new ProcsupError("bad_request", `Invalid "grep" ${quote(grep)}: expected an expression`);
  }
  if (since === undefined && until === undefined && grep === undefined) {
    if (!invert) return undefined;
    throw new ProcsupError("bad_request", 'Invalid "invert": there is no "grep" to invert');
  }
  const pattern = grep === undefined
    ? undefined
    : linePattern(grep, { field: "grep", code: "bad_request" });
  return {
    ...lineFilter(pattern, invert),
    since: since === undefined ? undefined : parseMoment("since", since, now),
    until: until === undefined ? undefined : parseMoment("until", until, now),
  };
}

/** The lines that match, whenever they were written. */
export function lineFilter(pattern: LinePattern | undefined, invert = false): LogFilter {
  return {
    since: undefined,
    until: undefined,
    matches: pattern && ((line) => matchesAsRead(pattern, line, invert)),
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
