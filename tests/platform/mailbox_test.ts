/** The queue of inputs of an actor. */

import { assertEquals, assertThrows } from "@std/assert";
import { Mailbox } from "../../src/platform/concurrency.ts";

Deno.test("post() handles an event before it returns", () => {
  const seen: number[] = [];
  new Mailbox<number>((event) => seen.push(event)).post(1);
  assertEquals(seen, [1]);
});

Deno.test("post() handles an event that a handler posts after the current one", () => {
  const seen: string[] = [];
  const mailbox: Mailbox<number> = new Mailbox((event) => {
    seen.push(`begin ${event}`);
    if (event === 1) {
      mailbox.post(2);
      mailbox.post(3);
    }
    seen.push(`end ${event}`);
  });
  mailbox.post(1);
  assertEquals(seen, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
});

Deno.test("post() handles later events even if an earlier one threw", () => {
  const seen: number[] = [];
  const mailbox = new Mailbox<number>((event) => {
    if (event === 1) throw new Error("refused");
    seen.push(event);
  });
  assertThrows(() => mailbox.post(1), Error, "refused");
  mailbox.post(2);
  assertEquals(seen, [2]);
});
