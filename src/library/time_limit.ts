/** A time limit for an operation that a signal can also end. */

import { type DurationInput, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";

/** Calls `act` with a signal that also aborts after `timeout`. Throws `timeout` then. */
export async function withinTime<T>(
  what: string,
  timeout: DurationInput | undefined,
  signal: AbortSignal | undefined,
  act: (over: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return await act(signal);
  const limit = AbortSignal.timeout(parseDuration(timeout));
  const over = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  try {
    return await act(over);
  } catch (error) {
    if (!limit.aborted || signal?.aborted) throw error;
    throw new ProcsupError("timeout", `${what} after ${timeout}`);
  }
}
