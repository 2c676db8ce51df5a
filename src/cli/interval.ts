/** How often a view is made anew. */

import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";

/** Usage is not measured more often than this by the daemon, which gives the last figures again. */
const LEAST_MS = 500;
const DEFAULT_MS = 1000;

/** Milliseconds of `--interval`, one second without it. Throws `bad_request`. */
export function intervalOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MS;
  const ms = parseDuration(text);
  if (ms >= LEAST_MS && ms <= 3_600_000) return ms;
  throw new ProcsupError(
    "bad_request",
    `Invalid value "${text}" for --interval: from ${LEAST_MS}ms to 1h is expected`,
  );
}
