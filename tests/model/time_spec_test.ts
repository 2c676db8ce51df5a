/** Times in the forms that people write. */

import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseRange, parseTimeSpec } from "../../src/model/time_spec.ts";

const NOW = new Date("2026-11-22T08:00:00").getTime();

function moment(text: string): string {
  const date = new Date(parseTimeSpec("since", text, NOW));
  const two = (value: number) => String(value).padStart(2, "0");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${date.getMonth() + 1}-${date.getDate()} ${time}`;
}

Deno.test("parseTimeSpec() reads relative times in every form", () => {
  for (
    const text of [
      "90m",
      "1h30m",
      "90m ago",
      "-90m",
      " 1h30m  ago ",
      "1 hour 30 min ago",
      "90 minutes",
    ]
  ) {
    assertEquals(moment(text), "11-22 06:30:00", text);
  }
  assertEquals([moment("1 week ago"), moment("1 day 2h ago"), moment("2 days")], [
    ...["11-15 08:00:00", "11-21 06:00:00", "11-20 08:00:00"],
  ]);
  assertEquals([moment("2d"), moment("0"), moment("now")], [
    ...["11-20 08:00:00", "11-22 08:00:00", "11-22 08:00:00"],
  ]);
  assertEquals(parseTimeSpec("since", "99999999d", NOW), 0);
});

Deno.test("parseTimeSpec() reads dates and times of day in the local zone, always in the past", () => {
  assertEquals([moment("today"), moment("yesterday")], ["11-22 00:00:00", "11-21 00:00:00"]);
  assertEquals([moment("07:59"), moment("08:00"), moment("8:00:01")], [
    ...["11-22 07:59:00", "11-22 08:00:00", "11-21 08:00:01"],
  ]);
  assertEquals([moment("yesterday 02:15"), moment("today 02:15:30")], [
    ...["11-21 02:15:00", "11-22 02:15:30"],
  ]);
  assertEquals([moment("2026-11-20"), moment("2026-11-20 23:10")], [
    ...["11-20 00:00:00", "11-20 23:10:00"],
  ]);
  assertEquals(moment("2024-02-29"), "2-29 00:00:00");
  assertEquals(parseTimeSpec("until", "2026-11-20T10:00:00Z", NOW), Date.UTC(2026, 10, 20, 10));
  assertEquals(parseTimeSpec("until", new Date(7), NOW), 7);
});

Deno.test("parseTimeSpec() rejects an invalid time and names the field", () => {
  for (
    const text of [
      "",
      "2026",
      "24:00",
      "12:60",
      "tomorrow",
      "2026-13-01",
      "2026-02-29",
      "2026-04-31 10:00",
      "2026-02-30T10:00:00Z",
      "ago",
      "5 x ago",
      "1h\n5",
      "1h x",
      "hour",
    ]
  ) {
    const error = assertThrows(() => parseTimeSpec("until", text, NOW), ProcsupError, '"until"');
    assertEquals(error.code, "bad_request", text);
  }
  assertThrows(() => parseTimeSpec("since", new Date(NaN), NOW), ProcsupError);
});

Deno.test("parseRange() rejects a range that ends before it begins, and keeps open ends open", () => {
  const now = Date.parse("2026-01-02T12:00:00Z");
  assertEquals(parseRange({ since: "1h" }, now), { since: now - 3_600_000, until: undefined });
  assertEquals(parseRange({ since: "1h", until: "1h" }, now).until, now - 3_600_000);
  const error = assertThrows(() => parseRange({ since: "1h", until: "2h" }, now), ProcsupError);
  assertEquals(error.message, 'Invalid "since" "1h": it is later than "until" "2h"');
});

Deno.test("parseRange() accepts an end later today when the range began yesterday", () => {
  const at = (text: string) => new Date(`2026-11-23T${text}`).getTime();
  const range = (since: string, until: string) => parseRange({ since, until }, at("03:15"));
  assertEquals(range("03:05", "03:20"), { since: at("03:05"), until: at("03:20") });
  assertEquals(range("10m", "03:20"), { since: at("03:05"), until: at("03:20") });
  assertEquals(range("yesterday 03:05", "03:20").until, new Date("2026-11-22T03:20").getTime());
  assertThrows(() => range("03:10", "03:05"), ProcsupError);
  assertThrows(() => range("03:10", "yesterday 03:20"), ProcsupError);
});
