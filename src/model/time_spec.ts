/** Parses times as people write them: an age, a time of day or a date. Pure. */

import { parseDuration } from "./duration.ts";
import { ifPossible, ProcsupError, quote } from "./errors.ts";
import { commandHint } from "./hint.ts";

const CLOCK = /^(?:(today|yesterday) )?(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Parses a time to milliseconds since the epoch: `10m`, `2d` or `1 hour ago`; `now`; midnight of
 * `today` or `yesterday`; the last `23:40`; `yesterday 23:40`; or a date with or without a time.
 * Without a time zone it is local time. Throws `bad_request` naming `field`.
 */
export function parseTimeSpec(field: string, value: string | Date, now: number): number {
  const time = value instanceof Date
    ? value.getTime()
    : typeof value === "string"
    ? timeSpec(value.trim(), now)
    : NaN;
  if (Number.isFinite(time)) return time;
  throw new ProcsupError(
    "bad_request",
    `Invalid "${field}" ${
      quote(value)
    }: expected how long ago, such as "10m", or a time, such as ` +
      '"23:40", "yesterday" or "2026-11-21 08:30"',
    { hint: commandHint("help", "logging") },
  );
}

/**
 * Parses a time to come: `30d` or `12h` from now, or a date with or without a time, to milliseconds
 * since the epoch. Throws `bad_request` naming `field`.
 */
export function parseExpiry(field: string, value: string, now: number): number {
  const text = value.trim();
  const time = /^\d{4}-/.test(text) ? timeSpec(text, now) : now + agoMs(text);
  if (time > now && time <= MAX_TIME) return time;
  throw new ProcsupError(
    "bad_request",
    `Invalid "${field}" ${
      quote(value)
    }: expected how long from now, such as "30d" or "12h", or a ` +
      'time to come, such as "2030-01-31"',
  );
}

/** The last time that a date can have. */
const MAX_TIME = 8.64e15;

/**
 * Parses both ends of a range like `parseTimeSpec()`; an omitted end is undefined. Also throws
 * `bad_request` if the range ends before it begins.
 */
export function parseRange(
  { since, until }: {
    readonly since?: string | Date | undefined;
    readonly until?: string | Date | undefined;
  },
  now: number,
): { readonly since: number | undefined; readonly until: number | undefined } {
  const from = since === undefined ? undefined : parseTimeSpec("since", since, now);
  const to = until === undefined ? undefined : endOf(until, from, now);
  if (from === undefined || to === undefined || from <= to) return { since: from, until: to };
  throw new ProcsupError(
    "bad_request",
    `Invalid "since" ${quote(since)}: it is later than "until" ${quote(until)}`,
    { hint: commandHint("help", "logging") },
  );
}

/** At 03:15, a range from 03:05 until 03:20 ends today, not yesterday. */
function endOf(until: string | Date, from = -Infinity, now: number): number {
  const end = parseTimeSpec("until", until, now);
  const clock = typeof until === "string" ? CLOCK.exec(until.trim()) : null;
  if (end >= from || clock === null || clock[1] !== undefined) return end;
  const next = new Date(end);
  next.setDate(next.getDate() + 1);
  const isToday = next.toDateString() === new Date(now).toDateString();
  return isToday ? next.getTime() : end;
}

function timeSpec(text: string, now: number): number {
  if (text === "now") return now;
  if (text === "today") return midnight(now, 0);
  if (text === "yesterday") return midnight(now, -1);
  const clock = CLOCK.exec(text);
  if (clock !== null) return clockTime(clock, now);
  // Date.parse() would read a bare date as UTC, a bare number as a year, and 30 February as 2 March.
  if (!isOfCalendar(text)) return NaN;
  if (DATE.test(text)) return Date.parse(`${text}T00:00`);
  if (/^\d{4}-/.test(text)) return Date.parse(text);
  // Nothing is older than the epoch, and dates have a limit.
  return Math.max(0, now - agoMs(text.replace(/^-/, "").replace(/\sago$/, "").trimEnd()));
}

/** False if a text begins with a date whose month has no such day. */
function isOfCalendar(text: string): boolean {
  const [year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(text)?.slice(1).map(Number) ?? [];
  if (year === undefined) return true;
  return day! <= new Date(Date.UTC(year, month!, 0)).getUTCDate();
}

/** Milliseconds of `2h30m`, or of words as in `journalctl --since`: `1 hour 30 min`. */
function agoMs(text: string): number {
  if (text === "0") return 0;
  let total = text === "" ? NaN : 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?) *([a-z]+) *|[^]+/gy)) {
    const name = unit.length > 2 ? unit.replace(/s$/, "") : unit;
    total += DAYS[name] === undefined
      ? ifPossible(() => parseDuration(`${count}${WORDS[name] ?? name}`)) ?? NaN
      : Number(count) * DAYS[name] * 86_400_000;
  }
  return total;
}

const DAYS: Readonly<Record<string, number>> = { d: 1, day: 1, w: 7, week: 7 };
const WORDS: Readonly<Record<string, string>> = {
  ...{ hour: "h", hr: "h", minute: "m", min: "m", second: "s", sec: "s" },
};

function midnight(now: number, days: number): number {
  const date = new Date(now);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + days);
  return date.getTime();
}

function clockTime([, day, ...parts]: RegExpExecArray, now: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return NaN;
  const date = new Date(midnight(now, day === "yesterday" ? -1 : 0));
  date.setHours(hours, minutes, seconds);
  // A time is never in the future: at eight o'clock, 23:40 was last night.
  if (day === undefined && date.getTime() > now) date.setDate(date.getDate() - 1);
  return date.getTime();
}
