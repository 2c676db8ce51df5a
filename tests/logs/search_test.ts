/** Searches that share one thread. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Search } from "../../src/logs/read/search.ts";
import { ProcsupError } from "../../src/model/errors.ts";

/** Works for some time between two steps. */
function* worker(steps: number, onStep = () => {}): Generator<void, number> {
  for (let step = 0; step < steps; step++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    onStep();
    yield;
  }
  return steps;
}

Deno.test("Search.run() yields between its turns, and alternates with other searches", async () => {
  const order: string[] = [];
  const ticks = setInterval(() => order.push("tick"), 0);
  const names = ["a", "b", "c"];
  const done = await Promise.all(
    names.map((name) => new Search().run(worker(30, () => order.push(name)))),
  );
  clearInterval(ticks);
  assertEquals(done, [30, 30, 30]);
  const firstEnd = order.lastIndexOf("a");
  for (const name of ["b", "c"]) assert(order.indexOf(name) < firstEnd, order.join(""));
  // A turn lasts 3 ms, a step at least 1 ms: at most 3 steps in a row.
  assert(
    !/[abc]{4}/.test(order.map((one) => one === "tick" ? "-" : one).join("")),
    order.join(" "),
  );
});

Deno.test("Search.run() ends when it is stopped or its time is up", async () => {
  const stopped = new Search();
  const steps = worker(1e9, () => stopped.stop());
  assertEquals(await stopped.run(steps), undefined);
  assertEquals(await stopped.run(worker(1)), undefined);
  const limited = new Search({ ms: 20, bytes: 100 });
  const error = await assertRejects(() => limited.run(worker(1e9)), ProcsupError);
  assertEquals(error.code, "timeout");
  limited.add(60);
  assertThrows(() => limited.add(60), ProcsupError, "took too long");
});
