/**
 * Computes when a schedule is due. Load this module with `import()` only when needed: it includes
 * the cron parser.
 */

import { Cron } from "croner";
import { durationProblem, parseDuration } from "./duration.ts";
import { ifPossible, messageOf, ProcsupError, quote } from "./errors.ts";
import { intervalOf } from "./interval_schedule.ts";
import { lowered } from "./plain_text.ts";
import type { CronRestartConfig } from "./process_config.ts";

export interface Schedule {
  /** The first due time after `after`, in milliseconds since the epoch; null if none is left. */
  next(after: number): number | null;
  /** After a smaller step back of the clock, a schedule waits; after a larger one, it starts over. */
  readonly setBackMs: number;
}

/** What has the schedule. */
export interface ScheduleOwner {
  /** Random delays are derived from it, so that every daemon knows the same ones. */
  readonly id: string;
  /** Intervals are counted from here, in milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Cron would repeat the times of an hour that daylight saving time, set by hand, takes back. */
const SET_BACK_MS = 3 * 3_600_000;

/** Shorter intervals would keep the daemon busy. */
const LEAST_INTERVAL_MS = 1000;

const NO_OWNER: ScheduleOwner = { id: "", createdAt: 0 };

/**
 * Parses 5 or 6 fields (seconds first), a nickname such as `@daily`, or `@every` with an interval.
 * Throws `invalid_config` naming `key` for a bad expression, a date that never comes and an unknown
 * time zone.
 */
export function parseSchedule(
  key: "cron" | "cron_restart",
  config: CronRestartConfig,
  owner: ScheduleOwner = NO_OWNER,
): Schedule {
  const { schedule, timezone, randomDelayMs } = config;
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
  const interval = intervalOf(schedule);
  const parsed = interval === undefined
    ? cronSchedule(schedule, timezone, (why) => refuse(".schedule", schedule, why))
    : everySchedule(interval, owner, (why) => refuse(".schedule", schedule, why));
  return randomDelayMs === undefined ? parsed : delayed(parsed, randomDelayMs, owner);
}

/** The times at a multiple of an interval. */
function everySchedule(
  interval: string,
  { createdAt }: ScheduleOwner,
  refuse: (why: string) => ProcsupError,
): Schedule {
  const problem = durationProblem(interval);
  if (problem !== undefined) throw refuse(problem);
  const ms = parseDuration(interval);
  if (ms < LEAST_INTERVAL_MS) throw refuse("expected 1s or more");
  return {
    // Its creation itself is not due.
    next: (after) => createdAt + (Math.floor((after - createdAt) / ms) + 1 || 1) * ms,
    setBackMs: Math.min(ms, SET_BACK_MS),
  };
}

/** A schedule with a delay of each due time, which ends before the next one. */
function delayed(
  { next, setBackMs }: Schedule,
  longestMs: number,
  { id }: ScheduleOwner,
): Schedule {
  const delayOf = (at: number) => {
    const gap = (next(at) ?? Infinity) - at;
    return Math.floor(fractionOf(`${id} ${at}`) * Math.min(longestMs, gap));
  };
  return {
    next(after) {
      // The delays of all earlier times are over.
      for (let at = lastTime(next, after - longestMs, after); at !== null; at = next(at)) {
        const due = at + delayOf(at);
        if (due > after) return due;
      }
      return null;
    },
    setBackMs,
  };
}

/** The last time after `from` and up to `until`; without one, the first after that. */
function lastTime(next: Schedule["next"], from: number, until: number): number | null {
  let known = next(from);
  if (known === null) return null;
  for (let end = until; known < end;) {
    const middle = Math.floor((known + end) / 2);
    const later = next(middle);
    if (later !== null && later <= until) known = later;
    else end = middle;
  }
  return known;
}

/** A number in [0, 1) that depends on a text alone: FNV-1a, with its bits mixed. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

function cronSchedule(
  schedule: string,
  timezone: string | undefined,
  refuse: (why: string) => ProcsupError,
): Schedule {
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
    throw refuse(why);
  }
  if (cron.nextRun() === null) throw refuse("this date never comes");
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    setBackMs: SET_BACK_MS,
  };
}

/** Refuses a wrong number of fields: the parser also accepts years and single dates. */
function formProblem(schedule: string): string | undefined {
  if (isNickname(schedule)) return undefined;
  const fields = schedule.trim().split(/\s+/).length;
  if (fields === 5 || fields === 6) return undefined;
  return 'expected 5 or 6 fields such as "0 4 * * *", or a word such as "@daily" or "@every 30s"';
}

function isTimezone(name: string): boolean {
  return ifPossible(() => new Intl.DateTimeFormat("en", { timeZone: name })) !== undefined;
}

function isNickname(schedule: string): boolean {
  return schedule.trim().startsWith("@");
}
