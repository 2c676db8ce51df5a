/** Durations, in the forms that people and Go use. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { formatDuration, parseDuration } from "../../src/model/duration.ts";
import { ProcsupError } from "../../src/model/errors.ts";

Deno.test("parseDuration() reads Go's duration strings", () => {
  const known: Record<string, number> = {
    "0": 0,
    "0s": 0,
    "200ms": 200,
    "5s": 5000,
    "1m30s": 90_000,
    "1h2m3.5s": 3_723_500,
    "1.5h": 5_400_000,
    ".5s": 500,
    "1.s": 1000,
    "250us": 0.25,
    "250µs": 0.25,
    "100ns": 0.0001,
    "2h0m0s": 7_200_000,
  };
  for (const [text, ms] of Object.entries(known)) assertEquals(parseDuration(text), ms, text);
});

Deno.test("parseDuration() reads an integer as nanoseconds", () => {
  assertEquals(parseDuration(5_000_000_000), 5000);
  assertEquals(parseDuration(0), 0);
});

Deno.test("parseDuration() rejects a number below one millisecond, which was probably meant as milliseconds", () => {
  const error = assertThrows(() => parseDuration(5000), ProcsupError) as ProcsupError;
  assertEquals(error.code, "bad_request");
  assertMatch(
    error.message,
    /^Invalid duration 5000: .* nanoseconds, .* such as "5000ms" or "5s"$/,
  );
  assertEquals(parseDuration(1_000_000), 1);
});

Deno.test("parseDuration() rejects an invalid duration and shows a valid one", () => {
  const wrong = ["", " ", "5", "s", "-5s", "+5s", "5 s", "5s ", " 5s", "5d", "1m30", "1e3s", "5S"];
  for (const value of [...wrong, -1, 1.5, NaN, Infinity]) {
    const error = assertThrows(() => parseDuration(value), ProcsupError, "Invalid duration");
    assertEquals(error.code, "bad_request");
    assertMatch(error.message, /expected a number with a unit, such as "5s"/);
  }
});

Deno.test("parseDuration() rejects a duration that is too large", () => {
  for (const value of [`${"9".repeat(400)}h`, "99999999999999999999h", "2562047h1s", 1e300]) {
    assertThrows(() => parseDuration(value), ProcsupError, "expected at most 2562047h");
  }
  assertEquals(formatDuration(parseDuration("2562047h")), "2562047h");
});

Deno.test("parseDuration() reads whole milliseconds exactly when they are given in seconds", () => {
  assertEquals(parseDuration("1.001s"), 1001);
  assertEquals(parseDuration("4.35s"), 4350);
});

Deno.test("formatDuration() writes Go's duration strings", () => {
  const known: [number, string][] = [
    [0, "0s"],
    [0.0001, "100ns"],
    [200, "200ms"],
    [1500, "1.5s"],
    [5000, "5s"],
    [60_000, "1m"],
    [90_000, "1m30s"],
    [3_600_000, "1h"],
    [3_723_500, "1h2m3.5s"],
  ];
  for (const [ms, text] of known) assertEquals(formatDuration(ms), text);
});

Deno.test("parseDuration() reads back what formatDuration() wrote, to the microsecond", () => {
  const milliseconds = fc.integer({ min: 0, max: 1e12 });
  const microseconds = fc.integer({ min: 0, max: 1e10 }).map((value) => value / 1000);
  fc.assert(
    fc.property(fc.oneof(fc.nat(100_000), milliseconds, microseconds), (ms) => {
      assertEquals(parseDuration(formatDuration(ms)), ms);
    }),
  );
});
