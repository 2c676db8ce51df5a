/** Moments as people say them. */

import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseMoment } from "../../src/model/moment.ts";

const NOW = new Date("2026-11-22T08:00:00").getTime();

function moment(text: string): string {
  const date = new Date(parseMoment("since", text, NOW));
  const two = (value: number) => String(value).padStart(2, "0");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${date.getMonth() + 1}-${date.getDate()} ${time}`;
}

Deno.test("parseMoment() reads how long ago it was, however that is said", () => {
  for (const text of ["90m", "1h30m", "90m ago", "-90m", " 1h30m  ago "]) {
    assertEquals(moment(text), "11-22 06:30:00", text);
  }
  assertEquals([moment("2d"), moment("0"), moment("now")], [
    ...["11-20 08:00:00", "11-22 08:00:00", "11-22 08:00:00"],
  ]);
});

Deno.test("parseMoment() reads days and times of the day in this machine's zone, none of them to come", () => {
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
  assertEquals(parseMoment("until", "2026-11-20T10:00:00Z", NOW), Date.UTC(2026, 10, 20, 10));
  assertEquals(parseMoment("until", new Date(7), NOW), 7);
});

Deno.test("parseMoment() refuses what is no moment, and names the field", () => {
  for (const text of ["", "2026", "24:00", "12:60", "tomorrow", "2026-13-01", "ago", "5 x ago"]) {
    const error = assertThrows(() => parseMoment("until", text, NOW), ProcsupError, '"until"');
    assertEquals(error.code, "bad_request", text);
  }
  assertThrows(() => parseMoment("since", new Date(NaN), NOW), ProcsupError);
});
