/** Several followers of one log share one reader, and any of them may leave. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { LogEntry } from "../../src/logs/read/entry_cutter.ts";
import { LogEntries, singleFlight } from "../../src/logs/read/log_entries.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { waitFor } from "../support/wait_for.ts";
import { LogScene, numbers } from "./rotation_scene.ts";

/** A follower, and its lines. */
class Follower {
  readonly got: string[] = [];
  readonly arrays: (readonly LogEntry[])[] = [];
  readonly entries: LogEntries;
  readonly #over: Promise<void>;

  constructor(log: string, grep?: string) {
    const filter = grep === undefined ? undefined : parseLogFilter({ grep }, Date.now())!;
    this.entries = new LogEntries(log, filter === undefined ? {} : { filter });
    this.#over = this.#run();
  }

  async #run(): Promise<void> {
    for await (const entries of this.entries.stored(false)) this.#take(entries);
    for await (const { entries } of this.entries.coming()) this.#take(entries);
    this.entries.close();
  }

  #take(entries: readonly LogEntry[]): void {
    this.arrays.push(entries);
    this.got.push(...entries.map(({ line }) => line));
  }

  async stop(): Promise<void> {
    this.entries.stop();
    await this.#over;
  }
}

async function all(followers: readonly Follower[], lines: readonly string[]): Promise<void> {
  const wanted = lines.join("\n");
  await waitFor(() => followers.every(({ got }) => got.join("\n") === wanted), {
    what: `all to have ${lines.length} lines`,
  });
}

Deno.test("singleFlight() lets one caller poll for all, and another take over when it stops or fails", async () => {
  const looks = [1, 2].map(() => Promise.withResolvers<string | undefined>());
  let count = 0;
  const look = () => looks[count++]!.promise;
  const first = singleFlight("here", look, () => {});
  let leave = () => {};
  const second = singleFlight("here", look, () => {});
  const third = singleFlight("here", look, (it) => leave = it);
  leave();
  assertEquals(await third, { found: undefined, isOwn: false });
  looks[0]!.resolve(undefined);
  assertEquals(await first, { found: undefined, isOwn: true });
  assertEquals(await second, { found: undefined, isOwn: false });
  assertEquals(count, 1);
  const fourth = singleFlight("here", look, () => {});
  const fifth = singleFlight("here", look, () => {});
  looks[1]!.reject(new Error("no disk"));
  await assertRejects(() => fourth, Error, "no disk");
  assertEquals(await fifth, { found: undefined, isOwn: false });
});

Deno.test("LogEntries at the same position return the same lines, in separate objects", async () => {
  await using scene = new LogScene();
  await scene.append("1\n2\n");
  const followers = [1, 2, 3].map(() => new Follower(scene.log));
  const even = new Follower(scene.log, "[02468]$");
  await all(followers, ["1", "2"]);
  await all([even], ["2"]);
  await scene.append("3\n4");
  await all(followers, ["1", "2", "3"]);
  await scene.append("2\n5\n");
  await all(followers, ["1", "2", "3", "42", "5"]);
  await all([even], ["2", "42"]);
  const [one, ...others] = followers.map(({ arrays }) => arrays.at(-1));
  assert(others.every((array) => array === one));
  // The polling follower leaves; one of the others takes over.
  for (const follower of followers.slice(0, 2)) await follower.stop();
  await scene.append("6\n");
  await all([followers[2]!], ["1", "2", "3", "42", "5", "6"]);
  assertEquals(followers[0]!.got.length, 5);
  await Promise.all([followers[2]!.stop(), even.stop()]);
});

Deno.test("LogEntries that share a reader lose nothing at rotation, truncation and replacement", async () => {
  await using scene = new LogScene();
  const followers = Array.from({ length: 20 }, () => new Follower(scene.log));
  const lines = numbers(500).trimEnd().split("\n");
  await scene.append(`${lines.slice(0, 300).join("\n")}\n`);
  await all(followers, lines.slice(0, 300));
  await scene.rotate(scene.log, 512, false);
  await scene.append(`${lines.slice(300).join("\n")}\n`);
  await all(followers, lines);
  await Deno.truncate(scene.log);
  await followers[0]!.stop();
  await waitFor(() => Deno.statSync(scene.log).size === 0);
  await scene.append("after\n");
  const rest = followers.slice(1);
  await all(rest, [...lines, "after"]);
  await Deno.writeTextFile(`${scene.log}.new`, "other\n");
  await Deno.rename(`${scene.log}.new`, scene.log);
  await all(rest, [...lines, "after", "other"]);
  await scene.append("more\n");
  await rest[0]!.stop();
  await all(rest.slice(1), [...lines, "after", "other", "more"]);
  await Promise.all(rest.map((follower) => follower.stop()));
});
