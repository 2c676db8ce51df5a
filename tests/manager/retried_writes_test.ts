/** Writes that the disk refused. */

import { assertEquals } from "@std/assert";
import { RetriedWrites, RETRY_MS } from "../../src/manager/retried_writes.ts";
import { FakeClock } from "../support/fake_clock.ts";

Deno.test("after() runs once a refused write has succeeded or been replaced, or at once", () => {
  const clock = new FakeClock();
  const writes = new RetriedWrites(clock, () => {});
  const acts: string[] = [];
  const then = (what: string) => writes.after(what, () => acts.push(what));
  let isFull = true;
  const write = () => {
    if (isFull) throw new Error("no space left on device");
  };
  then("nothing refused");
  for (const what of ["retried", "dropped"]) {
    writes.attempt(what, write);
    then(what);
  }
  clock.advance(RETRY_MS);
  assertEquals(acts, ["nothing refused"]);
  writes.drop("dropped");
  isFull = false;
  clock.advance(RETRY_MS);
  assertEquals(acts, ["nothing refused", "dropped", "retried"]);
});
