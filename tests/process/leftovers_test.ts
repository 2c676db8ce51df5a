/**
 * Leftovers of runs: terminated once, awaited by several callers, with a deadline that can move
 * forward.
 */

import { assertEquals, assertRejects } from "@std/assert";
import type { Run } from "../../src/model/process_state.ts";
import type { Orphans } from "../../src/platform/scan/process_group.ts";
import { Leftovers } from "../../src/process/leftovers.ts";
import { FakeWorld } from "../support/fake_world.ts";
import { waitFor } from "../support/wait_for.ts";

const RUN: Run = { runId: "run-1", wrapperPid: 1001, wrapperStart: "1", bootId: "boot" };

const WAY = { signal: "SIGTERM", mode: "group" } as const;

/** A fake world that records what it terminated, and with which deadline. */
class CountingWorld extends FakeWorld {
  group = Promise.withResolvers<void>();
  all = Promise.withResolvers<Orphans>();
  deadline = () => 0;
  cleanups = 0;

  override cleanUpOrphans(_run?: Run, _way?: unknown, deadline = () => 0) {
    this.cleanups++;
    this.deadline = deadline;
    return { group: this.group.promise, all: this.all.promise };
  }
}

function fail(reason: unknown): never {
  throw reason;
}

Deno.test("Leftovers.groupsGone does not wait for descendants that left the group, but gone does", async () => {
  const world = new CountingWorld("/tmp");
  const leftovers = new Leftovers(world);
  const count = leftovers.cleanUp(RUN, WAY, 1000, fail);
  const told: string[] = [];
  const groups = leftovers.groupsGone.then(() => told.push("groups"));
  const gone = leftovers.gone.then(() => told.push("all"));
  world.group.resolve();
  await groups;
  assertEquals(told, ["groups"]);
  world.all.resolve({ count: 2 });
  await gone;
  assertEquals([told, (await count).count], [["groups", "all"], 2]);
});

Deno.test("Leftovers.hurry() moves the deadline forward, never back", () => {
  const world = new CountingWorld("/tmp");
  const leftovers = new Leftovers(world);
  const begun = world.clock.steady();
  void leftovers.cleanUp(RUN, WAY, 1000, fail);
  assertEquals(world.deadline() - begun, 1000);
  leftovers.hurry(300);
  leftovers.hurry(700);
  assertEquals(world.deadline() - begun, 300);
});

Deno.test("Leftovers.cleanUp() runs a hook first, which counts as a part of it and may be cut short", async () => {
  const world = new CountingWorld("/tmp");
  const leftovers = new Leftovers(world);
  const hook = Promise.withResolvers<void>();
  let impatient: AbortSignal | undefined;
  const count = leftovers.cleanUp(RUN, WAY, 1000, fail, (signal) => {
    impatient = signal;
    return hook.promise;
  });
  let isGone = false;
  const gone = Promise.all([leftovers.gone, leftovers.groupsGone]).then(() => isGone = true);
  leftovers.hurry(300);
  assertEquals([world.cleanups, impatient?.aborted], [0, false]);
  leftovers.hurry(0);
  assertEquals(impatient?.aborted, true);
  hook.resolve();
  await waitFor(() => world.cleanups === 1);
  assertEquals([world.deadline() - world.clock.steady(), isGone], [0, false]);
  world.group.resolve();
  world.all.resolve({ count: 1 });
  await gone;
  assertEquals((await count).count, 1);
});

Deno.test("Leftovers.cleanUp() does nothing when the machine has rebooted since", async () => {
  const world = new CountingWorld("/tmp");
  const leftovers = new Leftovers(world);
  const cleanUp = leftovers.cleanUp({ ...RUN, bootId: "earlier" }, WAY, 1000, fail);
  assertEquals(await cleanUp, { count: 0 });
  assertEquals(world.cleanups, 0);
});

Deno.test("Leftovers.groupsGone and gone reject while scans for a run fail", async () => {
  const world = new CountingWorld("/tmp");
  const leftovers = new Leftovers(world);
  const told: unknown[] = [];
  const count = leftovers.cleanUp(RUN, WAY, 1000, (reason) => told.push(reason));
  const error = new Error("Too many open files");
  const refuse = () => {
    const { group, all } = world;
    world.group = Promise.withResolvers();
    world.all = Promise.withResolvers();
    group.reject(error);
    all.reject(error);
  };
  refuse();
  await assertRejects(() => leftovers.groupsGone, Error, "Too many open files");
  await assertRejects(() => leftovers.gone, Error, "Too many open files");
  world.clock.advance(1000);
  await waitFor(() => world.cleanups === 2, { what: "the second look" });
  refuse();
  await assertRejects(() => leftovers.gone, Error, "Too many open files");
  world.clock.advance(1000);
  await waitFor(() => world.cleanups === 3, { what: "the third look" });
  world.group.resolve();
  world.all.resolve({ count: 1 });
  assertEquals([await count, told], [{ count: 1 }, [error]]);
  await Promise.all([leftovers.groupsGone, leftovers.gone]);
});
