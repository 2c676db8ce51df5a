/**
 * Computes when a schedule is due. Load this module with `import()` only when needed: it includes
 * the cron parser.
 */

import { Cron } from "croner";
import { ifPossible, messageOf, ProcsupError, quote } from "./errors.ts";
import { lowered } from "./plain_text.ts";
import type { CronRestartConfig } from "./process_config.ts";

export interface Schedule {
  /** The first due time after `after`, in milliseconds since the epoch; null if none is left. */
  next(after: number): number | null;
}

/**
 * Parses 5 or 6 fields (seconds first), or a nickname such as `@daily`. Throws `invalid_config`
 * naming `key` for a bad expression, a date that never comes and an unknown time zone.
 */
export function parseSchedule(key: "cron" | "cron_restart", config: CronRestartConfig): Schedule {
  const { schedule, timezone } = config;
  const refuse = (field: string, value: string, why: string) =>
    new ProcsupError(
      "invalid_config",
      `Invalid "${key}${field}" ${quote(value)}: ${why}`,
      { field: `${key}${field}` },
    );
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw refuse(".timezone", timezone, 'unknown timezone, expected one such as "Europe/Berlin"');
  }
  const problem = formProblem(schedule);
  if (problem !== undefined) throw refuse(".schedule", schedule, problem);
  let cron: Cron;
  try {
    cron = new Cron(schedule.trim(), {
      paused: true,
      unref: true,
      ...(timezone === undefined ? {} : { timezone }),
    });
  } catch (error) {
    const why = isNickname(schedule)
      ? "unknown nickname"
      : lowered(messageOf(error).replace(/^\w+: /, ""));
    throw refuse(".schedule", schedule, why);
  }
  if (cron.nextRun() === null) throw refuse(".schedule", schedule, "this date never comes");
  return { next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null };
}

/** Refuses a wrong number of fields: the parser also accepts years and single dates. */
function formProblem(schedule: string): string | undefined {
  if (isNickname(schedule)) return undefined;
  const fields = schedule.trim().split(/\s+/).length;
  if (fields === 5 || fields === 6) return undefined;
  return 'expected 5 or 6 fields such as "0 4 * * *", or a nickname such as "@daily"';
}

function isTimezone(name: string): boolean {
  return ifPossible(() => new Intl.DateTimeFormat("en", { timeZone: name })) !== undefined;
}

function isNickname(schedule: string): boolean {
  return schedule.trim().startsWith("@");
}
