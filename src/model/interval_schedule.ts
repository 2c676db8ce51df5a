/** Schedules that are an interval: `@every 1h30m`. */

/** The prefix of such a schedule. */
export const EVERY = "@every ";

/** The interval of `@every 1h30m`; undefined for any other schedule. */
export function intervalOf(schedule: string): string | undefined {
  return /^@every\s+(.*)$/i.exec(schedule.trim())?.[1];
}
