/** The state table, row by row. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { NEW } from "../../src/model/process_state.ts";
import { describeExit } from "../../src/model/transition_steps.ts";
import {
  delayOver,
  exited,
  exitOf,
  inState,
  launched,
  NOON,
  play,
  policy,
  RESTART,
  runOf,
  START,
  STATES,
  stop,
  terminated,
} from "./life.ts";

const RESTING = ["stopped", "crashed", "errored"] as const;

Deno.test("inState() returns a snapshot in the requested state", () => {
  for (const state of STATES) assertEquals(inState(state).state, state);
});

Deno.test("transition() launches a new process when a user starts it", () => {
  const { now, effects } = play(NEW, [START]);
  assertEquals([now.state, now.desired, now.attempt], ["starting", "up", 1]);
  assertEquals(effects, [{ type: "launch" }]);
});

for (const state of RESTING) {
  Deno.test(`transition() launches and resets failures when a user starts it ${state}`, () => {
    for (const request of [START, RESTART]) {
      const failed = {
        ...inState(state),
        consecutiveFailures: 3,
        totalUptimeMs: 30,
        restartsAt: [10, 20],
      };
      const { now, effects } = play(failed, [request]);
      assertEquals([now.state, now.desired, now.attempt], ["starting", "up", 2]);
      assertEquals([now.consecutiveFailures, now.totalUptimeMs, now.restartsAt], [0, 0, []]);
      assertEquals(effects, [{ type: "launch" }]);
    }
  });
}

Deno.test("transition() cancels the delay and resets failures when a user starts it waiting", () => {
  for (const request of [START, RESTART]) {
    const { now, effects } = play(inState("waiting"), [request]);
    assertEquals([now.state, now.desired, now.attempt], ["starting", "up", 2]);
    assertEquals([now.consecutiveFailures, now.restartsAt, now.nextRestartAt], [0, [], null]);
    assertEquals(effects, [{ type: "disarm" }, { type: "launch" }]);
  }
});

Deno.test("transition() does not count a user's start or restart as a restart", () => {
  for (const state of [...RESTING, "waiting"] as const) {
    assertEquals(play(inState(state), [START]).now.restarts, 0);
    assertEquals(play(inState(state), [RESTART]).now.restarts, 0);
  }
  assertEquals(play(inState("running"), [RESTART, terminated(1)]).now.restarts, 0);
});

Deno.test("transition() ends errored without a retry when the app cannot be spawned", () => {
  const failure = { type: "launch_failed", attempt: 1, reason: "not found" } as const;
  const { now, effects } = play(inState("starting"), [failure]);
  assertEquals([now.state, now.lastReason, now.run], ["errored", "not found", null]);
  assertEquals(effects, []);
});

Deno.test("transition() retries what the machine refused under any policy, without counting a restart", () => {
  for (const restartPolicy of ["always", "on-failure", "never"] as const) {
    const rules = policy({ restartPolicy, maxRestarts: 0, restartDelayMs: 100 });
    let now = inState("starting");
    for (const [index, delay] of [100, 200, 400].entries()) {
      const attempt = index + 1;
      // The system had no process for the wrapper, or refused the wrapper one for the app.
      const lack = { at: NOON, random: 0 };
      const refusals = index === 1
        ? [launched(attempt), {
          ...exited(attempt, null),
          exit: { ...exitOf(null), at: new Date(NOON), refused: true as const },
        }]
        : [{ type: "launch_failed", attempt, reason: "no room", lack } as const];
      const refused = play(now, refusals, rules);
      assertEquals([refused.now.state, refused.now.restarts], ["waiting", 0]);
      assertEquals(refused.now.nextRestartAt, NOON + delay);
      assertEquals(refused.effects.at(-1), { type: "arm_delay", ms: delay });
      now = play(refused.now, [delayOver(attempt)], rules).now;
      assertEquals([now.state, now.restarts, now.attempt], ["starting", 0, attempt + 1]);
    }
  }
});

Deno.test("transition() records that a launch is intended, and clears it when the launch fails", () => {
  const intent = { type: "launching", attempt: 1, run: runOf(1) } as const;
  const { now } = play(inState("starting"), [intent]);
  assertEquals([now.state, now.run], ["starting", runOf(1)]);
  const failure = { type: "launch_failed", attempt: 1, reason: "not found" } as const;
  const failed = play(now, [{ type: "pid_known", attempt: 1, pid: 77 }, failure]).now;
  assertEquals([failed.run, failed.pid], [null, 0]);
});

Deno.test("transition() goes from starting to running when the app is spawned", () => {
  const { now, effects } = play(inState("starting"), [launched(1)]);
  assertEquals([now.state, now.ready, now.run, now.startedAt], ["running", true, runOf(1), NOON]);
  assertEquals(effects, []);
});

Deno.test("transition() accepts the pid at any time while something runs", () => {
  for (const state of ["starting", "running", "stopping"] as const) {
    const { now } = play(inState(state), [{ type: "pid_known", attempt: 1, pid: 77 }]);
    assertEquals([now.state, now.pid], [state, 77]);
  }
});

for (const how of [1, "SIGSEGV", null]) {
  Deno.test(`transition() leaves a process crashed when it ends with ${how} and policy is never`, () => {
    for (const state of ["starting", "running"] as const) {
      const { now } = play(inState(state), [exited(1, how)], policy({ restartPolicy: "never" }));
      assertEquals([now.state, now.pid, now.ready, now.run], ["crashed", 0, false, null]);
      assertEquals([now.lastExit, now.finishedAt], [exitOf(how), NOON]);
      assertEquals([now.restarts, now.nextRestartAt], [0, null]);
    }
  });

  Deno.test(`transition() waits for a restart when it ends with ${how} and the budget allows one`, () => {
    for (const restartPolicy of ["on-failure", "always"] as const) {
      const { now, effects } = play(
        inState("running"),
        [exited(1, how)],
        policy({ restartPolicy }),
      );
      assertEquals([now.state, now.desired, now.nextRestartAt], ["waiting", "up", NOON + 100]);
      assertEquals([now.lastExit, now.restarts], [exitOf(how), 0]);
      assertEquals(effects.at(-1), { type: "arm_delay", ms: 100 });
    }
  });
}

Deno.test("transition() treats an exit by a signal as a failure whatever the code", () => {
  const exit = { code: 0, signal: "SIGKILL", at: new Date(NOON) };
  assertEquals(play(inState("running"), [exited(1, 0, { exit })]).now.state, "waiting");
});

Deno.test("transition() ends stopped after a success code unless the policy is always", () => {
  for (const restartPolicy of ["on-failure", "never"] as const) {
    for (const code of [0, 42]) {
      const rules = policy({ restartPolicy, successExitCodes: [0, 42] });
      for (const state of ["starting", "running"] as const) {
        const { now } = play(inState(state), [exited(1, code)], rules);
        assertEquals([now.state, now.nextRestartAt], ["stopped", null]);
      }
    }
  }
});

Deno.test("transition() treats 0 as a failure when it is not a success code", () => {
  const { now } = play(inState("running"), [exited(1, 0)], policy({ successExitCodes: [42] }));
  assertEquals(now.state, "waiting");
});

Deno.test("transition() restarts after a success and counts it when the policy is always", () => {
  const always = policy({ restartPolicy: "always" });
  const { now, effects } = play(inState("running"), [exited(1, 0)], always);
  assertEquals(now.state, "waiting");
  assertEquals(effects.at(-1)?.type, "arm_delay");
  const { now: again } = play(now, [delayOver(1), launched(2)], always);
  assertEquals([again.state, again.restarts], ["running", 1]);
});

Deno.test("transition() cleans up what the app left behind whenever it exits by itself", () => {
  const cleanUp = { type: "clean_up_orphans", run: runOf(1) } as const;
  for (const restartPolicy of ["always", "on-failure", "never"] as const) {
    for (const maxRestarts of [0, 10]) {
      const rules = policy({ restartPolicy, maxRestarts });
      assertEquals(play(inState("running"), [exited(1, 1)], rules).effects[0], cleanUp);
    }
  }
});

Deno.test("transition() ends errored with a reason when the budget of the window is used up", () => {
  const used = { ...inState("running"), restartsAt: [1, 2, 3], totalUptimeMs: 3, restarts: 3 };
  const { now, effects } = play(used, [exited(1, 7)], policy({ maxRestarts: 3 }));
  assertEquals([now.state, now.restarts, now.nextRestartAt], ["errored", 3, null]);
  assertMatch(now.lastReason, /exited with code 7.*3 restarts/);
  assertEquals(effects.map((effect) => effect.type), ["clean_up_orphans"]);
});

Deno.test("transition() has budget again once the earlier restarts left the window", () => {
  const used = { ...inState("running"), restartsAt: [1, 2, 3], totalUptimeMs: 3, restarts: 3 };
  const late = exited(1, 7, { ranForMs: 60_000 });
  assertEquals(play(used, [late], policy({ maxRestarts: 3 })).now.state, "waiting");
});

Deno.test("transition() allows no automatic restart when maxRestarts is 0", () => {
  const { now } = play(inState("running"), [exited(1, 1)], policy({ maxRestarts: 0 }));
  assertEquals(now.state, "errored");
});

Deno.test("transition() doubles the delay with each failure, and resets it after a stable run", () => {
  let now = inState("starting");
  const delays: number[] = [];
  for (const ranForMs of [10, 10, 10, 10_000, 10]) {
    const attempt = now.attempt;
    const step = play(now, [launched(attempt), exited(attempt, 1, { ranForMs })]);
    const effect = step.effects.at(-1);
    delays.push(effect?.type === "arm_delay" ? effect.ms : -1);
    now = play(step.now, [delayOver(attempt)]).now;
  }
  assertEquals(delays, [100, 200, 400, 100, 200]);
});

Deno.test("transition() launches when the delay is over, and counts a restart with the launch", () => {
  const { now, effects } = play(inState("waiting"), [delayOver(1)]);
  assertEquals([now.state, now.attempt, now.restarts], ["starting", 2, 0]);
  assertEquals(play(now, [launched(2)]).now.restarts, 1);
  assertEquals([now.nextRestartAt, now.finishedAt], [null, null]);
  assertEquals(effects, [{ type: "launch" }]);
});

Deno.test("transition() keeps consecutiveFailures when the delay is over", () => {
  const waiting = inState("waiting");
  assert(waiting.consecutiveFailures > 0);
  assertEquals(play(waiting, [delayOver(1)]).now.consecutiveFailures, waiting.consecutiveFailures);
});

for (const state of ["waiting", "crashed", "errored", "stopped"] as const) {
  Deno.test(`transition() ends stopped when it is stopped while ${state}`, () => {
    const { now, effects } = play(inState(state), [stop()]);
    assertEquals([now.state, now.desired, now.nextRestartAt], ["stopped", "down", null]);
    assertEquals(effects, state === "waiting" ? [{ type: "disarm" }] : []);
  });
}

for (const state of ["starting", "running"] as const) {
  Deno.test(`transition() terminates the run when it is stopped while ${state}`, () => {
    const { now, effects } = play(inState(state), [stop({ timeoutMs: 123, reason: "by cron" })]);
    assertEquals([now.state, now.desired, now.lastReason], ["stopping", "down", "by cron"]);
    assertEquals(effects, [{ type: "terminate", timeoutMs: 123 }]);
  });

  Deno.test(`transition() terminates the run within the policy's timeout when restarted while ${state}`, () => {
    const { now, effects } = play(inState(state), [RESTART], policy({ stopTimeoutMs: 77 }));
    assertEquals([now.state, now.desired], ["stopping", "up"]);
    assertEquals(effects, [{ type: "terminate", timeoutMs: 77 }]);
  });

  Deno.test(`transition() changes nothing when it is started while ${state}`, () => {
    assertEquals(play(inState(state), [START]), { now: inState(state), effects: [] });
  });
}

Deno.test("transition() gives the user's stop as the default reason", () => {
  for (const state of ["starting", "running", "waiting", "crashed", "errored"] as const) {
    assertEquals(play(inState(state), [stop()]).now.lastReason, "stopped by user");
  }
});

Deno.test("transition() ends stopped, not crashed, once everything has ended after a stop", () => {
  const { now, effects } = play(inState("stopping"), [terminated(1)]);
  assertEquals([now.state, now.desired, now.pid, now.run], ["stopped", "down", 0, null]);
  assertEquals([now.lastExit, now.finishedAt], [exitOf("SIGTERM"), NOON]);
  assertEquals([now.lastReason, effects], ["stopped by user", []]);
});

Deno.test("transition() names the processes left over after a stop", () => {
  const { now } = play(inState("stopping"), [terminated(1, { left: [12, 34] })]);
  assertEquals([now.state, now.endFailed, now.lastReason], [
    "stopped",
    true,
    "could not end pid 12, 34",
  ]);
});

Deno.test("transition() launches again once everything has ended after a restart", () => {
  const { now, effects } = play(inState("running"), [RESTART, terminated(1)]);
  assertEquals([now.state, now.attempt, now.lastReason], ["starting", 2, "restarted by user"]);
  assertEquals([now.run, now.pid, now.ready], [null, 0, false]);
  assertEquals(effects.map((effect) => effect.type), ["terminate", "launch"]);
});

Deno.test("transition() keeps the last exit when a launch is cancelled before anything ran", () => {
  const second = play(inState("waiting"), [delayOver(1)]).now;
  const { now } = play(second, [stop(), terminated(2, { exit: null })]);
  assertEquals([now.state, now.lastExit], ["stopped", exitOf(1)]);
});

Deno.test("describeExit() describes how a process ended", () => {
  assertEquals(describeExit(exitOf(3)), "exited with code 3");
  assertEquals(describeExit(exitOf("SIGSEGV")), "ended by SIGSEGV");
  assertEquals(describeExit(exitOf(null)), "ended, exit code unknown");
});
