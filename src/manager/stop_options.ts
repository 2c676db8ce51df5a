/** Options of a stop, and the requests that they become. */

import type { StopOptions as Stop } from "../library/options.ts";
import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { StopRequest } from "../process/requests.ts";

/** How processes are stopped. */
export interface StopOptions extends Omit<Stop, "signal"> {
  /** False: no grace, as `force`. */
  readonly graceful?: boolean;
  /** All at once, the default, or one after the other. */
  readonly parallel?: boolean;
}

const MAX_STOP_TIMEOUT_MS = 3_600_000;

/** The request to one process. Throws `bad_request` for an invalid duration, or one over an hour. */
export function stopRequest({ force, graceful, timeout }: StopOptions): StopRequest {
  if (force || graceful === false) return { timeoutMs: 0 };
  if (timeout === undefined) return {};
  const timeoutMs = parseDuration(timeout);
  if (timeoutMs <= MAX_STOP_TIMEOUT_MS) return { timeoutMs };
  throw new ProcsupError("bad_request", `Invalid timeout "${timeout}": one hour is the most`);
}
