/** What each account may read at once. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FairTurns } from "../../src/auth/shares.ts";
import { ReadLimits } from "../../src/daemon/read_limits.ts";
import { ProcsupError } from "../../src/model/errors.ts";

const endless = () => new ReadableStream<string>();

Deno.test("ReadLimits leaves streams to the owner and to other tokens, whatever one has open", async () => {
  const limits = new ReadLimits();
  const open = (account: string) => limits.open({ account }, endless);
  const first = await open("ci");
  for (let i = 1; i < 32; i++) await open("ci");
  await assertRejects(() => open("ci"), ProcsupError, 'Token "ci" has 32 streams open already');
  for (const other of ["a", "b", "c"]) for (let i = 0; i < 32; i++) await open(other);
  // All tokens together have their maximum: one that has less than its share gets more.
  for (let i = 0; i < 25; i++) await open("late");
  await assertRejects(() => open("late"), ProcsupError, 'Token "late" has 25 streams');
  for (let i = 0; i < 512; i++) await open("");
  await assertRejects(() => open(""), ProcsupError, "The owner has 512 streams open already");
  await first.cancel();
  await assertRejects(() => open("ci"), ProcsupError, 'Token "ci" has 31 streams');
  await assertRejects(() =>
    limits.open({ account: "d" }, () => Promise.reject(new ProcsupError("not_found", "none")))
  );
  await open("d");
});

Deno.test("ReadLimits.feed() counts followed logs for their account", () => {
  const limits = new ReadLimits();
  const [token, owner] = [limits.feed({ account: "ci" }), limits.feed({ account: "" })];
  token.claim(2048);
  assertThrows(
    () => token.claim(1),
    ProcsupError,
    'Token "ci" follows 2048 logs already, and asks for 1 more',
  );
  owner.claim(4096);
  assertThrows(() => owner.claim(1), ProcsupError, "The owner follows 4096 logs already");
  token.release(1);
  token.claim(1);
});

Deno.test("FairTurns does a few works of tokens at once, and those of the owner without a turn", async () => {
  const turns = new FairTurns({ token: 2, tokens: 3 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (account: string, name: string) =>
    turns.run(account, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    });
  const all = ["1", "2", "3", "4"].map((name) => work("ci", name));
  all.push(work("other", "5"), work("other", "6"), work("", "7"));
  await Promise.resolve();
  assertEquals(begun, ["7", "1", "2", "5"]);
  ends[1]!();
  assertEquals(await all[0], "1");
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(begun.slice(4), ["3"]);
  // A work that fails gives its turn on, too.
  await assertRejects(() => turns.run("", () => Promise.reject(new Error("failed"))));
  for (let i = 0; i < 7; i++) {
    ends[i]!();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals((await Promise.all(all)).join(""), "1234567");
});

Deno.test("FairTurns refuses a token that asks without an end, and serves it again afterwards", async () => {
  const turns = new FairTurns({ token: 1, tokens: 4 });
  const gate = Promise.withResolvers<void>();
  const all = Array.from({ length: 257 }, () => turns.run("ci", () => gate.promise));
  await assertRejects(
    () => turns.run("ci", () => {}),
    ProcsupError,
    '256 requests of token "ci" wait',
  );
  assertEquals(await turns.run("other", () => "other"), "other");
  gate.resolve();
  await Promise.all(all);
  assertEquals(await turns.run("ci", () => "again"), "again");
});
