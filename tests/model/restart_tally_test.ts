import { assertEquals } from "@std/assert";
import { RestartTally } from "../../src/model/restart_budget.ts";

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
