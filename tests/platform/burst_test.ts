import { assert, assertEquals } from "@std/assert";
import { Burst } from "../../src/platform/burst.ts";

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("Burst pauses when much was done, and keeps the order of those who wait", async () => {
  const burst = new Burst();
  const done: number[] = [];
  let turns = 0;
  const one = async (index: number) => {
    for (let full; (full = burst.full) !== undefined;) await full;
    burst.work(() => block(26));
    done.push(index);
  };
  const timer = setInterval(() => turns++, 0);
  await Promise.all(Array.from({ length: 12 }, (_, index) => one(index)));
  clearInterval(timer);
  assertEquals(done, Array.from({ length: 12 }, (_, index) => index));
  // The first 100 ms in one go, then a turn for others after each.
  assert(turns >= 6, `${turns} turns`);
});

Deno.test("Burst holds nobody up who comes later, or alone", async () => {
  const burst = new Burst();
  burst.work(() => block(110));
  assert(burst.full !== undefined);
  await burst.full;
  assertEquals(burst.full, undefined);
  burst.work(() => block(20));
  block(30);
  assertEquals(burst.full, undefined);
});

Deno.test("Burst goes on in pieces after a pause that a busy loop made long", async () => {
  const burst = new Burst();
  burst.work(() => block(110));
  const pause = burst.full;
  block(40);
  await pause;
  burst.work(() => block(26));
  assert(burst.full !== undefined);
  await burst.full;
});
