/** Converts options of a stop to requests. */

import type { StopOptions as Stop } from "../library/options.ts";
import { formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { StopRequest } from "../process/requests.ts";

export interface StopOptions extends Omit<Stop, "signal"> {
  /** False: SIGKILL at once, like `force`. */
  readonly graceful?: boolean;
  /** Stop all at once, the default, or one after the other. */
  readonly parallel?: boolean;
}

const MAX_STOP_TIMEOUT_MS = 3_600_000;

/** The request to one process. Throws `bad_request` for an invalid timeout, or one over an hour. */
export function stopRequest({ force, graceful, timeout }: StopOptions): StopRequest {
  if (force || graceful === false) return { timeoutMs: 0 };
  if (timeout === undefined) return {};
  const timeoutMs = parseDuration(timeout);
  if (timeoutMs <= MAX_STOP_TIMEOUT_MS) return { timeoutMs };
  throw new ProcsupError(
    "bad_request",
    `Invalid timeout "${formatDuration(timeoutMs)}": one hour is the most`,
  );
}
