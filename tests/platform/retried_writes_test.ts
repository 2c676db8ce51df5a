/** Writes that the disk refused. */

import { assert, assertEquals } from "@std/assert";
import { RetriedWrites, RETRY_MS } from "../../src/platform/files/retried_writes.ts";
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

Deno.test("attempt() warns once of a write that fails again and again, and writes nothing after close()", () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const writes = new RetriedWrites(clock, (message) => warnings.push(message));
  const refused = () => {
    throw new Error("no space left on device");
  };
  for (const write of [refused, refused]) writes.attempt("the record", write);
  assertEquals(warnings, ["Cannot write the record, will try again: no space left on device"]);
  writes.close();
  writes.attempt("the record", () => assert(false, "written after close()"));
  assertEquals([warnings.length, clock.pending], [1, 0]);
});
