/** When schedules are due, and the messages for invalid ones. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseSchedule } from "../../src/model/cron.ts";
import { ProcsupError } from "../../src/model/errors.ts";

/** The times after `from`, as ISO text without milliseconds. */
function moments(schedule: string, timezone: string, from: string, count = 3): string[] {
  const parsed = parseSchedule("cron", { schedule, timezone });
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count;) {
    at = parsed.next(at)!;
    found.push(new Date(at).toISOString().slice(0, 19));
  }
  return found;
}

const MOMENTS: readonly [string, string, string, readonly string[]][] = [
  ["0 4 * * *", "UTC", "2026-01-01T04:00:00Z", ["2026-01-02T04:00:00", "2026-01-03T04:00:00"]],
  ["*/20 * * * * *", "UTC", "2026-01-01T00:00:00.5Z", [
    "2026-01-01T00:00:20",
    "2026-01-01T00:00:40",
  ]],
  ["@daily", "America/New_York", "2026-01-01T00:00:00Z", [
    "2026-01-01T05:00:00",
    "2026-01-02T05:00:00",
  ]],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]],
  // A time that spring skips runs at the end of the gap; one that autumn repeats runs once.
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", [
    "2026-03-29T01:00:00",
    "2026-03-30T00:30:00",
  ]],
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", [
    "2026-10-25T00:30:00",
    "2026-10-26T01:30:00",
  ]],
];

for (const [schedule, timezone, from, expected] of MOMENTS) {
  Deno.test(`parseSchedule() gives the times of "${schedule}" in ${timezone} after ${from}`, () => {
    assertEquals(moments(schedule, timezone, from, expected.length), [...expected]);
  });
}

const AUTUMN = "2026-10-24T23:10:00Z";

Deno.test("parseSchedule() repeats in autumn what runs every hour, and not what has its hour", () => {
  const hours = moments("0 * * * *", "Europe/Berlin", AUTUMN, 3);
  assertEquals(hours, ["2026-10-25T00:00:00", "2026-10-25T01:00:00", "2026-10-25T02:00:00"]);
  const daily = moments("15 2 * * *", "Europe/Berlin", AUTUMN, 2);
  assertEquals(daily, ["2026-10-25T00:15:00", "2026-10-26T01:15:00"]);
});

Deno.test("parseSchedule() delays each time by up to random_delay, less than to the next one", () => {
  const owner = { id: "a", createdAt: 0 };
  const config = { schedule: "@every 10s", randomDelayMs: 3_600_000 };
  const { next } = parseSchedule("cron", config, owner);
  const found: number[] = [];
  for (let at = 0; found.length < 50;) found.push(at = next(at)!);
  found.forEach((at, index) => assertEquals(Math.floor(at / 10_000), index, String(at)));
  assert(new Set(found.map((at) => at % 10_000)).size > 40, "the delays differ");
  const other = parseSchedule("cron", config, { ...owner, id: "b" });
  assert(other.next(0) !== found[0]);
});

const MISTAKES: readonly [string, string | undefined, string][] = [
  ["0 0 31 2 *", undefined, 'Invalid "cron.schedule" "0 0 31 2 *": this date never comes'],
  ["61 * * * *", undefined, 'Invalid "cron.schedule" "61 * * * *": invalid value for minute: 61'],
  ["* * *", undefined, 'Invalid "cron.schedule" "* * *": expected 5 or 6 fields'],
  [
    "* * * * * * 2030",
    undefined,
    'Invalid "cron.schedule" "* * * * * * 2030": expected 5 or 6 fields',
  ],
  ["2030-01-01T00:00:00", undefined, 'Invalid "cron.schedule" "2030-01-01T00:00:00": expected'],
  ["every day", undefined, 'Invalid "cron.schedule" "every day": expected 5 or 6 fields'],
  ["@every 10ms", undefined, 'Invalid "cron.schedule" "@every 10ms": expected 1s or more'],
  ["@every day", undefined, 'Invalid "cron.schedule" "@every day": expected a number with a unit'],
  ["@dayly", undefined, 'Invalid "cron.schedule" "@dayly": unknown nickname'],
  ["@daily", "Mars/Olympus", 'Invalid "cron.timezone" "Mars/Olympus": unknown timezone'],
  ["@daily", "", 'Invalid "cron.timezone" "": unknown timezone'],
];

for (const [schedule, timezone, message] of MISTAKES) {
  Deno.test(`parseSchedule() rejects "${schedule}" in ${timezone ?? "local time"}`, () => {
    const config = { schedule, ...(timezone === undefined ? {} : { timezone }) };
    const error = assertThrows(() => parseSchedule("cron", config), ProcsupError);
    assertEquals(error.code, "invalid_config");
    assert(error.message.startsWith(message), error.message);
  });
}
