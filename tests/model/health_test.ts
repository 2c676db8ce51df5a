/** The health of a process, judged by its check results. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Health, type HealthRecord, judge, UNKNOWN_HEALTH } from "../../src/model/health.ts";

const CONFIG = { retries: 3, successThreshold: 2, gracePeriodMs: 1000, intervalMs: 0 };

/** The health after each result, for a process that has been up long enough. */
function health(answers: string, upForMs = 5000, config = CONFIG): Health[] {
  let record: HealthRecord = UNKNOWN_HEALTH;
  return [...answers].map((answer) => {
    record = judge(record, answer === "+", upForMs, config);
    return record.health;
  });
}

Deno.test("judge() calls a process healthy after successThreshold successes in a row", () => {
  assertEquals(health("+"), ["unknown"]);
  assertEquals(health("++").at(-1), "healthy");
  assertEquals(health("+-+").at(-1), "unknown");
});

Deno.test("judge() calls a process unhealthy after retries failures in a row", () => {
  assertEquals(health("--").at(-1), "unknown");
  assertEquals(health("---").at(-1), "unhealthy");
  assertEquals(health("--+--").at(-1), "unknown");
  assertEquals(health("++--+--").at(-1), "healthy");
});

Deno.test("judge() keeps its verdict until the opposite threshold is reached", () => {
  assertEquals(health("++---+").at(-1), "unhealthy");
  assertEquals(health("++---++").at(-1), "healthy");
  assertEquals(health("++-+-+-+-+").at(-1), "healthy", "a target that flaps");
});

Deno.test("judge() ignores failures within the grace period, but counts every success", () => {
  assertEquals(health("-----", 999).at(-1), "unknown");
  assertEquals(health("-----", 1000).at(-1), "unhealthy");
  assertEquals(health("++", 10).at(-1), "healthy");
  assertEquals(health("+-+", 10).at(-1), "unknown", "still in a row");
});

Deno.test("judge() counts failures once per interval, however early the checks after a start come", () => {
  const config = { ...CONFIG, intervalMs: 1000 };
  const after = (times: readonly number[]) =>
    times.reduce((record, at) => judge(record, false, at, config), UNKNOWN_HEALTH).failures;
  assertEquals(after([2000, 2200, 2500, 2999]), 1);
  assertEquals(after([2000, 2500, 3000, 4000]), 3);
});

Deno.test("judge() says healthy only after a success and unhealthy only after a failure", () => {
  const thresholds = fc.record({
    retries: fc.integer({ min: 1, max: 5 }),
    successThreshold: fc.integer({ min: 1, max: 5 }),
    gracePeriodMs: fc.nat(3),
    intervalMs: fc.constant(0),
  });
  fc.assert(fc.property(thresholds, fc.array(fc.boolean()), (config, answers) => {
    let record = UNKNOWN_HEALTH;
    for (const [upForMs, ok] of answers.entries()) {
      const before = record.health;
      record = judge(record, ok, upForMs, config);
      if (record.health !== before) assertEquals(record.health, ok ? "healthy" : "unhealthy");
      assert(record.failures === 0 || record.successes === 0);
    }
  }));
});
