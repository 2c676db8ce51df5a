/** A time limit for an operation that a signal can also end. */

import { type DurationInput, formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { systemClock } from "../platform/clock.ts";

/**
 * Calls `act` with a signal that aborts with `signal`'s reason or, after `timeout`, with a `timeout`
 * error: `${what} within 5s`.
 */
export async function withinTime<T>(
  what: string,
  timeout: DurationInput | undefined,
  signal: AbortSignal | undefined,
  act: (over: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return await act(signal);
  const late = new AbortController();
  const ms = parseDuration(timeout);
  const cancel = systemClock.after(
    ms,
    () => late.abort(new ProcsupError("timeout", `${what} within ${formatDuration(ms)}`)),
  );
  try {
    return await act(signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]));
  } finally {
    cancel();
  }
}
