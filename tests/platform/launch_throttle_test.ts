import { assert, assertEquals } from "@std/assert";
import { LaunchThrottle } from "../../src/platform/launch_throttle.ts";

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("LaunchThrottle pauses after much work, and lets waiters go in order", async () => {
  const throttle = new LaunchThrottle();
  const done: number[] = [];
  let turns = 0;
  const one = async (index: number) => {
    for (let full; (full = throttle.full) !== undefined;) await full;
    throttle.work(() => block(26));
    done.push(index);
  };
  const timer = setInterval(() => turns++, 0);
  await Promise.all(Array.from({ length: 12 }, (_, index) => one(index)));
  clearInterval(timer);
  assertEquals(done, Array.from({ length: 12 }, (_, index) => index));
  // The first 100 ms in one go, then a pause after each.
  assert(turns >= 6, `${turns} turns`);
});

Deno.test("LaunchThrottle does not delay a later or lone launch", async () => {
  const throttle = new LaunchThrottle();
  throttle.work(() => block(110));
  assert(throttle.full !== undefined);
  await throttle.full;
  assertEquals(throttle.full, undefined);
  throttle.work(() => block(20));
  block(30);
  assertEquals(throttle.full, undefined);
});

Deno.test("LaunchThrottle continues piece by piece after a busy loop prolonged a pause", async () => {
  const throttle = new LaunchThrottle();
  throttle.work(() => block(110));
  const pause = throttle.full;
  block(40);
  await pause;
  throttle.work(() => block(26));
  assert(throttle.full !== undefined);
  await throttle.full;
});
