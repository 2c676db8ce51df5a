/** The refresh interval of a view. */

import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";

/** The daemon does not measure usage more often than this, and repeats its last figures. */
const LEAST_MS = 500;
const DEFAULT_MS = 1000;

/** `--interval` in milliseconds, one second by default. Throws `bad_request`. */
export function intervalOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MS;
  const ms = parseDuration(text);
  if (ms >= LEAST_MS && ms <= 3_600_000) return ms;
  throw new ProcsupError(
    "bad_request",
    `Invalid value "${text}" for --interval: expected ${LEAST_MS}ms to 1h`,
  );
}
