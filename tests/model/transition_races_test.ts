/** Requests and events that cross. */

import { assertEquals } from "@std/assert";
import {
  becameReady,
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  exitOf,
  inState,
  launched,
  play,
  policy,
  readyTimedOut,
  recycle,
  RESTART,
  runOf,
  START,
  STATES,
  stop,
  terminated,
} from "./life.ts";

Deno.test("transition() launches at once when it is restarted while waiting", () => {
  const { now, effects } = play(inState("waiting"), [RESTART, delayOver(1)]);
  assertEquals([now.state, now.attempt, now.restarts], ["starting", 2, 0]);
  assertEquals(effects, [{ type: "disarm" }, { type: "launch" }]);
});

Deno.test("transition() ends stopped when a stop comes during a restart", () => {
  const { now, effects } = play(inState("running"), [RESTART, stop(), terminated(1)]);
  assertEquals([now.state, now.desired], ["stopped", "down"]);
  assertEquals(effects.map((effect) => effect.type), ["terminate", "terminate"]);
});

Deno.test("transition() stops the new run when a stop comes after the restart's launch", () => {
  const { now, effects } = play(inState("running"), [
    RESTART,
    terminated(1),
    stop(),
    terminated(2),
  ]);
  assertEquals([now.state, now.attempt], ["stopped", 2]);
  assertEquals(effects.map((effect) => effect.type), ["terminate", "launch", "terminate"]);
});

Deno.test("transition() terminates a launch that succeeds after the stop", () => {
  const stopping = play(inState("starting"), [stop(), launched(1)]);
  assertEquals([stopping.now.state, stopping.now.run], ["stopping", runOf(1)]);
  assertEquals(stopping.effects, [{ type: "terminate", timeoutMs: 5000 }]);
  assertEquals(play(stopping.now, [terminated(1)]).now.state, "stopped");
});

Deno.test("transition() ends stopped when the launch fails after the stop", () => {
  const failure = { type: "launch_failed", attempt: 1, reason: "not found" } as const;
  const { now } = play(inState("starting"), [stop(), failure, terminated(1, { exit: null })]);
  assertEquals([now.state, now.desired, now.run], ["stopped", "down", null]);
});

Deno.test("transition() keeps the earlier deadline when it is stopped twice", () => {
  const { now, effects } = play(inState("running"), [
    stop({ timeoutMs: 60_000 }),
    stop({ timeoutMs: 0, reason: "forced" }),
    terminated(1),
  ]);
  assertEquals([now.state, now.lastReason], ["stopped", "forced"]);
  assertEquals(effects, [{ type: "terminate", timeoutMs: 60_000 }, {
    type: "terminate",
    timeoutMs: 0,
  }]);
});

Deno.test("transition() launches after the old run has ended when it is started while stopping", () => {
  const asked = play(inState("stopping"), [START]);
  assertEquals([asked.now.state, asked.now.desired, asked.effects], ["stopping", "up", []]);
  const { now, effects } = play(asked.now, [terminated(1)]);
  assertEquals([now.state, now.attempt, effects], ["starting", 2, [{ type: "launch" }]]);
});

Deno.test("transition() follows the last request when start and stop alternate while stopping", () => {
  assertEquals(play(inState("stopping"), [START, stop(), terminated(1)]).now.state, "stopped");
  assertEquals(
    play(inState("stopping"), [START, stop(), RESTART, terminated(1)]).now.state,
    "starting",
  );
});

Deno.test("transition() treats an exit after the stop as part of the stop", () => {
  const { now, effects } = play(inState("running"), [stop(), exited(1, 1), terminated(1)]);
  assertEquals([now.state, now.restarts, now.consecutiveFailures], ["stopped", 0, 0]);
  assertEquals(effects.map((effect) => effect.type), ["terminate"]);
});

Deno.test("transition() cancels the restart of an exit that came just before the stop", () => {
  const { now, effects } = play(inState("running"), [exited(1, 1), stop()]);
  assertEquals([now.state, now.desired, now.lastExit], ["stopped", "down", exitOf(1)]);
  assertEquals(effects.map((effect) => effect.type), ["clean_up_orphans", "arm_delay", "disarm"]);
});

Deno.test("transition() ignores the end of the delay after the stop", () => {
  const { now, effects } = play(inState("waiting"), [stop(), delayOver(1)]);
  assertEquals([now.state, now.restarts], ["stopped", 0]);
  assertEquals(effects, [{ type: "disarm" }]);
});

Deno.test("transition() accepts an exit that arrives before its launch is reported", () => {
  const { now } = play(inState("starting"), [exited(1, 1), launched(1)]);
  assertEquals([now.state, now.run], ["waiting", null]);
});

Deno.test("transition() ignores every event of an earlier attempt", () => {
  const stale = [
    { type: "launching", attempt: 1, run: runOf(1) },
    launched(1),
    { type: "launch_failed", attempt: 1, reason: "not found" },
    { type: "pid_known", attempt: 1, pid: 99 },
    exited(1, 1),
    terminated(1),
    delayOver(1),
    becameReady(1),
    readyTimedOut(1),
    recycle(1),
    dependenciesMet(1),
    dependencyFailed(1),
  ] as const;
  for (const state of STATES) {
    const second = { ...inState(state), attempt: 2 };
    for (const event of stale) {
      assertEquals(play(second, [event], policy()), { now: second, effects: [] });
    }
  }
});
