/** State table rows for a start: readiness, replacement, hooks. */

import { assertEquals, assertMatch } from "@std/assert";
import type { Policy } from "../../src/model/transition_steps.ts";
import { type Input, NEW, type Snapshot } from "../../src/model/process_state.ts";
import {
  becameReady,
  delayOver,
  exited,
  exitOf,
  inState,
  launched,
  NOON,
  play,
  policy,
  readyTimedOut,
  recovered,
  recycle,
  RESTART,
  runOf,
  START,
  stop,
  terminated,
} from "./life.ts";

const HOOK = { command: "true", timeoutMs: 1000, ignoreFailure: false, runAsRoot: false };

/** Every key that asks for readiness. */
const READINESS: readonly Partial<Policy>[] = [
  { waitReady: true },
  { readyLog: "listening" },
  { readyDelayMs: 100 },
];

/** Launched, but not ready yet. */
function unready(before: readonly Input[] = [START], rules = WAITING): Snapshot {
  const { now } = play(NEW, before, rules);
  return play(now, [launched(now.attempt)], rules).now;
}

const WAITING = policy({ waitReady: true });

Deno.test("transition() stays starting until ready when readiness is configured", () => {
  for (const asked of READINESS) {
    const rules = policy(asked);
    const started = play(NEW, [START, launched(1)], rules);
    assertEquals([started.now.state, started.now.ready], ["starting", false]);
    assertEquals([started.now.run, started.now.startedAt], [runOf(1), NOON]);
    const ready = play(started.now, [becameReady(1)], rules);
    assertEquals([ready.now.state, ready.now.ready, ready.effects], ["running", true, []]);
  }
});

Deno.test("transition() terminates a run that is not ready in time, and the policy decides what follows", () => {
  for (
    const [restartPolicy, state, delays] of [
      ["always", "waiting", 1],
      ["on-failure", "waiting", 1],
      ["never", "crashed", 0],
    ] as const
  ) {
    const rules = policy({ waitReady: true, restartPolicy });
    const late = play(unready([START], rules), [readyTimedOut(1)], rules);
    assertEquals([late.now.state, late.now.desired, late.now.stopCause], [
      "stopping",
      "up",
      "failed",
    ]);
    assertEquals(late.effects, [{ type: "terminate", timeoutMs: 5000 }]);
    const { now, effects } = play(late.now, [terminated(1)], rules);
    assertEquals([now.state, now.lastReason, now.run], [state, "not ready within 30s", null]);
    assertEquals([now.restartsAt.length, effects.length], [delays, delays]);
  }
});

Deno.test("transition() waits for the next restart when an automatic one is not ready in time", () => {
  const again = unready([START, launched(1), exited(1, 1), delayOver(1)]);
  assertEquals([again.state, again.attempt, again.restarts], ["starting", 2, 1]);
  const { now, effects } = play(again, [readyTimedOut(2), terminated(2)], WAITING);
  assertEquals([now.state, now.awaiting, now.lastReason], [
    "waiting",
    "delay",
    "not ready within 30s",
  ]);
  assertEquals([now.consecutiveFailures, now.restartsAt.length], [2, 2]);
  assertEquals(effects.at(-1), { type: "arm_delay", ms: 200 });
});

Deno.test("transition() gives up when no automatic restart becomes ready", () => {
  const rules = policy({ waitReady: true, maxRestarts: 2 });
  let { now } = play(NEW, [START, launched(1), becameReady(1), exited(1, 1)], rules);
  for (let attempt = 1; now.state === "waiting"; attempt++) {
    const next = attempt + 1;
    now =
      play(now, [delayOver(attempt), launched(next), readyTimedOut(next), terminated(next)], rules)
        .now;
  }
  assertEquals([now.state, now.attempt, now.restarts], ["errored", 3, 2]);
  assertMatch(now.lastReason, /^not ready within .*, 2 restarts used up$/);
});

Deno.test("transition() treats a user's restart that is not ready in time like a first start", () => {
  const running = play(unready(), [becameReady(1)], WAITING).now;
  const again = play(running, [RESTART, terminated(1), launched(2)], WAITING).now;
  assertEquals(play(again, [readyTimedOut(2), terminated(2)], WAITING).now.state, "waiting");
});

Deno.test("transition() treats an exit before readiness like any other exit", () => {
  const { now } = play(unready(), [exited(1, 3)], WAITING);
  assertEquals([now.state, now.lastExit], ["waiting", exitOf(3)]);
  const never = policy({ waitReady: true, restartPolicy: "never" });
  assertEquals(play(unready([START], never), [exited(1, 3)], never).now.state, "crashed");
});

Deno.test("transition() ignores readiness and its timeout after the state has changed", () => {
  for (const state of ["running", "stopping", "stopped", "crashed", "errored"] as const) {
    for (const event of [becameReady(1), readyTimedOut(1)]) {
      assertEquals(play(inState(state), [event], WAITING), { now: inState(state), effects: [] });
    }
  }
});

Deno.test("transition() prefers a stop to a readiness timeout", () => {
  for (const order of [[readyTimedOut(1), stop()], [stop(), readyTimedOut(1)]]) {
    const { now } = play(unready(), [...order, terminated(1)], WAITING);
    assertEquals([now.state, now.desired, now.lastReason], ["stopped", "down", "stopped by user"]);
  }
});

Deno.test("transition() starts again when a user asks while a late start is being terminated", () => {
  for (const request of [START, RESTART]) {
    const { now } = play(unready(), [readyTimedOut(1), request, terminated(1)], WAITING);
    assertEquals([now.state, now.attempt, now.restartsAt], ["starting", 2, []]);
  }
});

Deno.test("transition() replaces a run on request and counts a restart", () => {
  const reason = "memory 20.0 MB, more than its max_memory of 10MB";
  const ending = play(inState("running"), [recycle(1, reason)]);
  assertEquals([ending.now.state, ending.now.desired, ending.now.stopCause], [
    "stopping",
    "up",
    "recycled",
  ]);
  assertEquals(ending.effects, [{ type: "terminate", timeoutMs: 5000 }]);
  const { now, effects } = play(ending.now, [terminated(1)]);
  assertEquals([now.state, now.attempt], ["starting", 2]);
  assertEquals(play(now, [launched(2)]).now.restarts, 1);
  assertEquals([now.lastReason, now.stopCause], [reason, null]);
  assertEquals([now.restartsAt, effects], [[10], [{ type: "launch" }]]);
});

Deno.test("transition() replaces a run under any restart policy", () => {
  for (const restartPolicy of ["always", "on-failure", "never"] as const) {
    const rules = policy({ restartPolicy });
    assertEquals(
      play(inState("running"), [recycle(1), terminated(1)], rules).now.state,
      "starting",
    );
  }
});

Deno.test("transition() ends errored when the budget does not allow another replacement", () => {
  const rules = policy({ maxRestarts: 2 });
  let { now } = play(NEW, [START, launched(1)], rules);
  for (let attempt = 1; now.state === "running"; attempt++) {
    now = play(now, [recycle(attempt), terminated(attempt), launched(attempt + 1)], rules).now;
  }
  assertEquals([now.state, now.restarts, now.run], ["errored", 2, null]);
  assertEquals(now.lastReason, "unhealthy: no answer, 2 restarts used up");
});

Deno.test("transition() has budget for replacements that are a window apart", () => {
  const rules = policy({ maxRestarts: 1, restartWindowMs: 1000 });
  let { now } = play(NEW, [START, launched(1)], rules);
  for (let attempt = 1; attempt <= 5; attempt++) {
    const ranForMs = 2000;
    const steps = [recycle(attempt), terminated(attempt, { ranForMs }), launched(attempt + 1)];
    now = play(now, steps, rules).now;
  }
  assertEquals([now.state, now.restarts], ["running", 5]);
});

Deno.test("transition() prefers a stop to a replacement, before and after it", () => {
  for (const order of [[recycle(1), stop()], [stop(), recycle(1)]]) {
    const { now, effects } = play(inState("running"), [...order, terminated(1)]);
    assertEquals([now.state, now.desired, now.restarts], ["stopped", "down", 0]);
    assertEquals(effects.filter(({ type }) => type === "launch"), []);
  }
});

Deno.test("transition() treats a restart by a user during a replacement as the user's", () => {
  const { now } = play(inState("running"), [recycle(1), RESTART, terminated(1)]);
  assertEquals([now.state, now.restarts, now.lastReason], ["starting", 0, "restarted by user"]);
});

Deno.test("transition() replaces a run only once when it is both too old and unhealthy", () => {
  const steps = [recycle(1), recycle(1, "too old"), terminated(1), launched(2)];
  const { now, effects } = play(inState("running"), steps);
  assertEquals([now.restarts, now.lastReason], [1, "unhealthy: no answer"]);
  assertEquals(effects.map(({ type }) => type), ["terminate", "launch"]);
});

Deno.test("transition() ends errored when a run could not be terminated for its replacement", () => {
  const { now, effects } = play(inState("running"), [recycle(1), terminated(1, { left: [12] })]);
  assertEquals([now.state, now.lastReason, effects.length], ["errored", "could not end pid 12", 1]);
});

Deno.test("transition() runs post_start once running, and only if configured", () => {
  const hooks = { postStart: HOOK };
  const effects = play(NEW, [START, launched(1)], policy({ hooks })).effects;
  assertEquals(effects, [{ type: "launch" }, { type: "hook", hook: "postStart" }]);
  const waiting = policy({ hooks, waitReady: true });
  const late = play(NEW, [START, launched(1)], waiting);
  assertEquals(late.effects, [{ type: "launch" }]);
  const hook = { type: "hook", hook: "postStart" } as const;
  assertEquals(play(late.now, [becameReady(1)], waiting).effects, [hook]);
});

Deno.test("transition() runs the restart hooks around a replacement, and post_restart for a user's restart", () => {
  const rules = policy({ hooks: { preRestart: HOOK, postRestart: HOOK } });
  const post = { type: "hook", hook: "postRestart" } as const;
  const asked = play(inState("running"), [recycle(1)], rules);
  const request = asked.now.requests[0]!;
  assertEquals([asked.now.state, asked.now.requestStep], ["running", "before"]);
  assertEquals(asked.effects, [{ type: "before", request, hook: "preRestart" }]);
  const hooked = { type: "before_over", request } as const;
  const replaced = play(asked.now, [hooked, terminated(1), launched(2)], rules);
  assertEquals(replaced.effects, [
    { type: "terminate", timeoutMs: 5000 },
    { type: "launch" },
    post,
  ]);
  assertEquals(replaced.now.hookOnceUp, null);
  for (const [other, hook] of [[RESTART, "postRestart"], [START, ""]] as const) {
    const ending = play(asked.now, [hooked, other], rules).now;
    const over = ending.requests.map((request): Input => ({ type: "before_over", request }));
    const { effects } = play(ending, [...over, terminated(1), launched(2)], rules);
    const ran = effects.flatMap((it) => it.type === "hook" ? [it.hook] : []);
    assertEquals(ran.join(), hook, other.type);
  }
  const late = policy({ ...rules, waitReady: true });
  const { now } = play(asked.now, [hooked, terminated(1), launched(2)], late);
  assertEquals(play(now, [becameReady(2)], late).effects, [post]);
});

Deno.test("transition() runs post_stop when everything has ended, before the next step", () => {
  const rules = policy({ hooks: { postStop: HOOK } });
  const hook = { type: "hook", hook: "postStop" } as const;
  assertEquals(play(inState("stopping"), [terminated(1)], rules).effects, [hook]);
  const again = play(inState("running"), [RESTART, terminated(1)], rules).effects;
  assertEquals(again.slice(1), [hook, { type: "launch" }]);
  const replaced = play(inState("running"), [recycle(1), terminated(1)], rules).effects;
  assertEquals(replaced.slice(1), [hook, { type: "launch" }]);
});

Deno.test("transition() runs no stop hook when the app exits by itself", () => {
  const rules = policy({ hooks: { postStop: HOOK, preStop: HOOK } });
  const { effects } = play(inState("running"), [exited(1, 0)], rules);
  assertEquals(effects.map(({ type }) => type), ["clean_up_orphans"]);
});

Deno.test("transition() does not run post_start again for an adopted run", () => {
  const rules = policy({ hooks: { postStart: HOOK } });
  const alive = recovered({ kind: "alive", run: runOf(1), pid: 2001 });
  assertEquals(play(inState("running"), [alive], rules).effects, [{ type: "adopt" }]);
});

Deno.test("transition() awaits readiness when it adopts a run that was starting", () => {
  const alive = recovered({ kind: "alive", run: runOf(1), pid: 2001 });
  const { now, effects } = play(unready(), [alive], WAITING);
  assertEquals([now.state, now.ready, now.pid], ["starting", false, 2001]);
  assertEquals(effects, [{ type: "adopt" }]);
  assertEquals(play(now, [becameReady(1)], WAITING).now.state, "running");
  assertEquals(play(now, [readyTimedOut(1), terminated(1)], WAITING).now.state, "waiting");
  const ready = play(unready(), [becameReady(1)], WAITING).now;
  assertEquals(play(ready, [alive], WAITING).now.state, "running");
});

Deno.test("transition() completes a replacement that an earlier daemon began", () => {
  const ending = play(inState("running"), [recycle(1)]).now;
  const { now } = play(ending, [recovered({ kind: "no_run" })]);
  assertEquals([now.state, now.lastReason], ["starting", "unhealthy: no answer"]);
  assertEquals(play(now, [launched(2)]).now.restarts, 1);
});
