/** When a daemon is found to have nothing to do. */

import { assertEquals } from "@std/assert";
import { Quiet } from "../../src/daemon/quiet.ts";
import { FakeClock } from "../support/fake_clock.ts";

Deno.test("Quiet acts once, when nothing has happened for the time given", () => {
  const clock = new FakeClock();
  let acted = 0;
  using quiet = new Quiet(20_000, () => acted++, clock);
  clock.advance(60_000);
  assertEquals(acted, 0, "nothing ever happened");
  quiet.touch();
  clock.advance(15_000);
  quiet.touch();
  clock.advance(19_000);
  assertEquals(acted, 0, "something happened meanwhile");
  clock.advance(1000);
  assertEquals(acted, 1);
  clock.advance(100_000);
  assertEquals(acted, 1, "it is quiet still");
  quiet.touch();
  clock.advance(20_000);
  assertEquals(acted, 2);
});

Deno.test("Quiet acts no more once it is disposed of", () => {
  const clock = new FakeClock();
  let acted = 0;
  const quiet = new Quiet(1000, () => acted++, clock);
  quiet.touch();
  quiet[Symbol.dispose]();
  clock.advance(10_000);
  assertEquals(acted, 0);
});
