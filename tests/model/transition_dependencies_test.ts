/** State table rows for dependencies. */

import { assertEquals } from "@std/assert";
import { NEW } from "../../src/model/process_state.ts";
import {
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  inState,
  play,
  policy,
  recovered,
  recycle,
  RESTART,
  START,
  stop,
  terminated,
} from "./life.ts";

const DEPENDING = policy({ dependsOn: { db: "ready", cache: "started" } });

Deno.test("transition() waits for dependencies before it launches", () => {
  for (const state of ["stopped", "crashed", "errored"] as const) {
    for (const request of [START, RESTART]) {
      const { now, effects } = play(inState(state), [request], DEPENDING);
      assertEquals([now.state, now.desired, now.awaiting], ["waiting", "up", "dependencies"]);
      assertEquals([now.nextRestartAt, now.attempt], [null, 1]);
      assertEquals(now.lastReason, "waiting for db, cache");
      assertEquals(effects, [{ type: "await_dependencies" }]);
    }
  }
});

Deno.test("transition() waits for dependencies again when a user restarts it", () => {
  const { now, effects } = play(inState("running"), [RESTART, terminated(1)], DEPENDING);
  assertEquals([now.state, now.awaiting], ["waiting", "dependencies"]);
  assertEquals(effects.map(({ type }) => type), ["terminate", "await_dependencies"]);
});

Deno.test("transition() does not wait for dependencies at an automatic restart", () => {
  const crashed = play(inState("running"), [exited(1, 1), delayOver(1)], DEPENDING);
  assertEquals([crashed.now.state, crashed.effects.at(-1)], ["starting", { type: "launch" }]);
  const replaced = play(inState("running"), [recycle(1), terminated(1)], DEPENDING);
  assertEquals([replaced.now.state, replaced.effects.at(-1)], ["starting", { type: "launch" }]);
});

Deno.test("transition() launches when the dependencies are ready, without counting a restart", () => {
  const { now, effects } = play(NEW, [START, dependenciesMet(0)], DEPENDING);
  assertEquals([now.state, now.awaiting, now.attempt, now.restarts], ["starting", null, 1, 0]);
  assertEquals(effects.at(-1), { type: "launch" });
});

Deno.test("transition() ends errored with the reason when a dependency failed", () => {
  const { now, effects } = play(NEW, [START, dependencyFailed(0)], DEPENDING);
  assertEquals([now.state, now.awaiting], ["errored", null]);
  assertEquals(now.lastReason, 'depends on "db", which is errored');
  assertEquals(effects, [{ type: "await_dependencies" }]);
});

Deno.test("transition() stops waiting for dependencies when it is stopped", () => {
  const { now, effects } = play(NEW, [START, stop(), dependenciesMet(0)], DEPENDING);
  assertEquals([now.state, now.desired, now.awaiting], ["stopped", "down", null]);
  assertEquals(effects.at(-1), { type: "disarm" });
  const failed = play(NEW, [START, stop(), dependencyFailed(0)], DEPENDING).now;
  assertEquals([failed.state, failed.lastReason], ["stopped", "stopped by user"]);
});

Deno.test("transition() waits for dependencies again when it is started while waiting for them", () => {
  for (const request of [START, RESTART]) {
    const waiting = play(NEW, [START], DEPENDING).now;
    const { now, effects } = play(waiting, [request], DEPENDING);
    assertEquals([now.state, now.awaiting], ["waiting", "dependencies"]);
    assertEquals(effects, [{ type: "disarm" }, { type: "await_dependencies" }]);
  }
});

Deno.test("transition() waits for dependencies again under a new daemon", () => {
  const waiting = play(NEW, [START], DEPENDING).now;
  const { now, effects } = play(waiting, [recovered({ kind: "no_run" })], DEPENDING);
  assertEquals([now, effects], [waiting, [{ type: "await_dependencies" }]]);
});
