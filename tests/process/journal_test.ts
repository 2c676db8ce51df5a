/** The record of hooks and health checks, and its limits. */

import { assert, assertEquals } from "@std/assert";
import { type HookRun, Journal } from "../../src/process/journal.ts";

function run(changes: Partial<HookRun>): HookRun {
  return {
    ...{ hook: "preStart", at: 0, durationMs: 1, exitCode: 0, timedOut: false, output: "" },
    ...changes,
  };
}

Deno.test("Journal keeps the last 20 hooks, and separately the last 10 around health checks", () => {
  const journal = new Journal();
  for (let at = 0; at < 100; at++) {
    journal.ran(run({ at, hook: at % 5 === 0 ? "postStop" : "preHealthCheck" }));
  }
  const stops = journal.hooks.filter(({ hook }) => hook === "postStop");
  assertEquals([stops.length, stops[0]!.at, stops.at(-1)!.at], [20, 0, 95]);
  assertEquals(journal.hooks.length, 30);
  assertEquals(
    journal.hooks.map(({ at }) => at),
    journal.hooks.map(({ at }) => at).toSorted((a, b) => a - b),
  );
});

Deno.test("Journal keeps the end of a hook's output, cut between characters", () => {
  const journal = new Journal();
  journal.ran(run({ output: `${"ä".repeat(5000)}!` }));
  const { output } = journal.hooks[0]!;
  assert(output.endsWith("ä!") && !output.includes("\ufffd") && output.length <= 2048);
});

Deno.test("Journal.over() resolves when the running hooks have ended, failed or not", async () => {
  const journal = new Journal();
  await journal.over();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  journal.begun(first.promise);
  journal.begun(second.promise);
  let over = false;
  const waiting = journal.over().then(() => over = true);
  first.resolve();
  await first.promise;
  assertEquals(over, false);
  second.reject(new Error("it failed"));
  await waiting;
});

Deno.test("Journal keeps the last 50 health checks", () => {
  const journal = new Journal();
  for (let at = 0; at < 80; at++) journal.checked({ at, latencyMs: 1, problem: "" });
  assertEquals([journal.checks.length, journal.checks[0]!.at], [50, 30]);
});
