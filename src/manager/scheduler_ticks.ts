/** Which moment of a schedule is due when the clock says so and so. Pure. */

import type { Schedule } from "../model/cron.ts";

/** A moment that was passed by longer ago than this is missed, and not made up. */
export const GRACE_MS = 30_000;

/** A clock that is set back by less is waited for; by more it was wrong, and the new time holds. */
export const SET_BACK_MS = 3 * 3_600_000;

/** What came of a look at the clock. */
export interface Tick {
  /** The moment that is due; null: none. Several that were passed by count as one. */
  readonly due: number | null;
  /** Everything up to here is dealt with, and never due again. */
  readonly covered: number;
  /** The next moment; null: never. */
  readonly next: number | null;
}

/** A look at the clock, after an earlier one had dealt with everything up to `covered`. */
export function tick(schedule: Schedule, covered: number, now: number): Tick {
  const known = covered - now > SET_BACK_MS ? now : covered;
  const moment = schedule.next(Math.max(known, now - GRACE_MS));
  const due = moment !== null && moment <= now ? moment : null;
  const after = Math.max(known, now);
  return { due, covered: after, next: schedule.next(after) };
}
