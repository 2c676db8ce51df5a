/** How often and how soon a process is restarted. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  budgetLeft,
  isLoop,
  LOOP_RESTARTS,
  ranStably,
  recentRestarts,
  restartDelay,
  RestartTally,
  rowAtStart,
  withRestart,
} from "../../src/model/restart_budget.ts";

const DELAYS = { restartDelayMs: 100, backoffMaxMs: 60_000 };

Deno.test("restartDelay() doubles with each consecutive failure, up to the maximum", () => {
  const delays = [0, 1, 2, 3, 9, 10, 1000].map((consecutiveFailures) =>
    restartDelay(DELAYS, consecutiveFailures, 0)
  );
  assertEquals(delays, [100, 200, 400, 800, 51_200, 60_000, 60_000]);
});

Deno.test("restartDelay() subtracts up to a fifth at random", () => {
  assertEquals(restartDelay(DELAYS, 0, 0.5), 90);
  assertEquals(restartDelay(DELAYS, 20, 0.999999), 48_000);
});

Deno.test("restartDelay() keeps a delay that exceeds the backoff maximum", () => {
  assertEquals(restartDelay({ restartDelayMs: 5000, backoffMaxMs: 1000 }, 4, 0), 5000);
});

Deno.test("restartDelay() is never negative, infinite or above both limits", () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), random, (delay, max, consecutiveFailures, chance) => {
      const ms = restartDelay(
        { restartDelayMs: delay, backoffMaxMs: max },
        consecutiveFailures,
        chance,
      );
      assert(Number.isInteger(ms) && ms >= 0 && ms <= Math.max(delay, max));
      assert(delay === 0 ? ms === 0 : ms >= Math.floor(delay * 0.8));
    }),
  );
});

const BUDGET = { maxRestarts: 3, restartWindowMs: 1000 };

Deno.test("recentRestarts() drops restarts that left the window", () => {
  assertEquals(recentRestarts(BUDGET, [0, 500, 1000, 1500], 1500), [1000, 1500]);
  assertEquals(recentRestarts(BUDGET, [0, 500], 999), [0, 500]);
});

Deno.test("recentRestarts() keeps restarts of this very moment with any window", () => {
  assertEquals(recentRestarts({ ...BUDGET, restartWindowMs: 0 }, [0, 7, 7], 7), [7, 7]);
});

Deno.test("budgetLeft() allows as many restarts as the policy permits", () => {
  assertEquals(budgetLeft(BUDGET, [1, 2]), true);
  assertEquals(budgetLeft(BUDGET, [1, 2, 3]), false);
  assertEquals(budgetLeft({ ...BUDGET, maxRestarts: 0 }, []), false);
});

Deno.test("ranStably() requires ten times min_uptime", () => {
  assertEquals(ranStably({ minUptimeMs: 1000 }, 9999), false);
  assertEquals(ranStably({ minUptimeMs: 1000 }, 10_000), true);
});

const MINUTE = 60_000;

Deno.test("RestartTally counts the last hour by the minute", () => {
  const tally = new RestartTally();
  assertEquals(tally.lastHour(0), 0);
  tally.add(1, 10 * MINUTE);
  tally.add(2, 10 * MINUTE + 59_000);
  tally.add(1, 30 * MINUTE);
  assertEquals(tally.lastHour(30 * MINUTE), 4);
  assertEquals(tally.lastHour(70 * MINUTE - 1), 4);
  assertEquals(tally.lastHour(70 * MINUTE), 1);
  assertEquals(tally.lastHour(90 * MINUTE), 0);
});

Deno.test("RestartTally is empty after an idle hour without a query", () => {
  for (const hours of [1, 2, 1000]) {
    const tally = new RestartTally();
    for (let minute = 0; minute < 120; minute++) tally.add(1, minute * MINUTE);
    assertEquals(tally.lastHour(119 * MINUTE), 60);
    assertEquals(tally.lastHour((119 + 60 * hours) * MINUTE), 0);
    tally.add(5, (119 + 60 * hours) * MINUTE);
    assertEquals(tally.lastHour((120 + 60 * hours) * MINUTE), 5);
  }
});

Deno.test("withRestart() keeps the restarts that came soon after a start, and drops old ones", () => {
  assertEquals(withRestart([], { at: 1000, upForMs: 100 }), [1000]);
  assertEquals(withRestart([1000], { at: 2000, upForMs: 3001 }), []);
  assertEquals(withRestart([1000], { at: 121_001, upForMs: 0 }), [121_001]);
  // The clock was set back.
  assertEquals(withRestart([9000], { at: 1000, upForMs: 0 }), [9000, 1000]);
});

Deno.test("isLoop() is true after restarts in a row, and the next start begins a new row", () => {
  let row: readonly number[] = [];
  const loops = Array.from({ length: 2 * LOOP_RESTARTS + 2 }, (_, i) => {
    row = withRestart(rowAtStart(row), { at: i * 1000, upForMs: 500 });
    return isLoop(row);
  });
  const one = [...Array(LOOP_RESTARTS).fill(false), true];
  assertEquals(loops, [...one, ...one]);
});

Deno.test("isLoop() is false at the pace of a person editing files", () => {
  let row: readonly number[] = [];
  for (let i = 0; i < 100; i++) {
    row = withRestart(row, { at: i * 1000, upForMs: i % 10 === 9 ? 5000 : 500 });
    assertEquals(isLoop(row), false);
  }
});
