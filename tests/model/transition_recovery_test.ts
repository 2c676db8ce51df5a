/** How a new daemon takes over a process of an earlier one. */

import { assert, assertEquals } from "@std/assert";
import {
  type Effect,
  type Input,
  NEW,
  type PendingRequest,
} from "../../src/model/process_state.ts";
import { AT_REST } from "../../src/model/transition_steps.ts";
import {
  delayOver,
  exited,
  exitOf,
  inState,
  launched,
  NOON,
  play,
  policy,
  recovered,
  reload,
  RESTART,
  runOf,
  START,
  STATES,
  stop,
  terminated,
} from "./life.ts";

const ALIVE = { kind: "alive", run: runOf(1), pid: 2001 } as const;
const NO_RUN = { kind: "no_run" } as const;
const HOOK = { command: "true", timeoutMs: 1000, ignoreFailure: false, runAsRoot: false };

function ended(how: number | string | null) {
  return { kind: "ended", exit: exitOf(how), random: 0 } as const;
}

Deno.test("transition() adopts the same run when it is found alive", () => {
  for (const state of ["starting", "running"] as const) {
    const { now, effects } = play(inState(state), [recovered(ALIVE)]);
    assertEquals([now.state, now.run, now.pid, now.ready], ["running", runOf(1), 2001, true]);
    assertEquals([now.attempt, now.restarts, now.startedAt], [1, 0, NOON]);
    assertEquals(effects, [{ type: "adopt" }]);
  }
});

Deno.test("transition() applies the restart policy once when the run is found ended", () => {
  const found = recovered(ended(3));
  const failed = play(inState("running"), [found]);
  assertEquals([failed.now.state, failed.now.lastExit], ["waiting", exitOf(3)]);
  assertEquals(failed.effects.map((effect) => effect.type), ["clean_up_orphans", "arm_delay"]);
  const never = play(inState("running"), [found], policy({ restartPolicy: "never" }));
  assertEquals(never.now.state, "crashed");
  assertEquals(play(inState("running"), [recovered(ended(0))]).now.state, "stopped");
});

Deno.test("transition() treats an unknown exit as a failure when the run is found ended", () => {
  const { now } = play(inState("running"), [recovered(ended(null))]);
  assertEquals([now.state, now.lastReason], ["waiting", "ended, exit code unknown"]);
});

Deno.test("transition() counts the time until the exit when the run is found ended", () => {
  const at = new Date(NOON + 400);
  const found = { kind: "ended", exit: { code: 1, signal: null, at }, random: 0 } as const;
  assertEquals(play(inState("running"), [recovered(found, NOON + 9000)]).now.totalUptimeMs, 400);
});

Deno.test("transition() launches when a process was starting and no run is found", () => {
  const { now, effects } = play(inState("starting"), [recovered(NO_RUN)]);
  assertEquals([now.state, now.attempt, now.restarts], ["starting", 2, 0]);
  assertEquals(effects, [{ type: "launch" }]);
});

Deno.test("transition() continues terminating the run when it is found alive while stopping", () => {
  const { now, effects } = play(inState("stopping"), [recovered(ALIVE)]);
  assertEquals([now.state, now.desired, now.pid], ["stopping", "down", 2001]);
  assertEquals(effects, [{ type: "adopt" }, { type: "terminate", timeoutMs: 5000 }]);
});

Deno.test("transition() keeps a pending request for the next daemon until its turn comes", () => {
  const requests = {
    start: { verb: "start" },
    stop: { verb: "stop", timeoutMs: 0 },
    restart: { verb: "restart" },
  } as const;
  const after = (verb: keyof typeof requests, ...inputs: Input[]) => {
    const asked: Input = { type: "pending", request: requests[verb] };
    return play(inState("running"), [asked, recovered(ALIVE), ...inputs]).now.pending?.verb;
  };
  for (const verb of ["start", "stop", "restart"] as const) {
    assertEquals(after(verb), verb);
    assertEquals([after(verb, START), after(verb, stop())], [undefined, undefined]);
  }
  assertEquals([after("start", RESTART), after("restart", RESTART)], [undefined, undefined]);
  // A restart by a watch or the clock does not cancel it.
  assertEquals(after("stop", RESTART), "stop");
});

Deno.test("transition() starts after a reboot what was to be started, and nothing that was to be stopped", () => {
  const rebooted = recovered({ kind: "rebooted", autostart: true });
  const pending = (request: PendingRequest): Input => ({ type: "pending", request });
  const started = play(NEW, [pending({ verb: "start" }), rebooted]);
  assertEquals([started.now.state, started.now.pending], ["starting", null]);
  const manual = recovered({ kind: "rebooted", autostart: false });
  const left = play(NEW, [pending({ verb: "start" }), manual]).now;
  assertEquals([left.state, left.pending], ["stopped", null]);
  const stopped = play(inState("running"), [pending({ verb: "stop" }), rebooted]);
  assertEquals([stopped.now.state, stopped.effects], ["stopped", []]);
  assertEquals(stopped.now.pending, { verb: "stop" });
});

Deno.test("transition() keeps a pending change of the configuration over a reboot", () => {
  const rebooted = recovered({ kind: "rebooted", autostart: true });
  const left = (request: PendingRequest) =>
    play(inState("running"), [{ type: "pending", request }, rebooted]).now.pending;
  const change: PendingRequest = { verb: "reload", config: { args: ["2"] } };
  assertEquals([left(change), left({ verb: "reload" })], [change, null]);
});

Deno.test("transition() keeps the watch of an app paused that restarted it in a loop, until its next start", () => {
  const changed = (at: number): Input => ({ type: "file_changed", attempt: 1, at, upForMs: 100 });
  const loop = Array.from({ length: 11 }, (_, i) => changed(NOON + i));
  const { now } = play(inState("running"), [...loop, recovered(ALIVE)]);
  assertEquals(now.watchRestarts.length, 11);
  assertEquals(play(now, [RESTART, terminated(1)]).now.watchRestarts, []);
  assertEquals(play(now, [RELOAD, replaced()], OVERLAP).now.watchRestarts, []);
  const few = play(inState("running"), [changed(NOON), RESTART, terminated(1)]).now;
  assertEquals(few.watchRestarts, [NOON]);
});

Deno.test("transition() does not start a process again that is being deleted, unless a user does", () => {
  const leaving = { type: "leaving", leaving: true } as const;
  const rebooted = recovered({ kind: "rebooted", autostart: true });
  for (const state of STATES) {
    const { now } = play(inState(state), [leaving, rebooted]);
    assertEquals([now.leaving, AT_REST.has(now.state)], [true, true], state);
  }
  const { now } = play(inState("running"), [leaving, stop(), START, recovered(ended(0))]);
  assertEquals([now.leaving, now.state], [false, "starting"]);
});

Deno.test("transition() keeps the grace period of a stop across daemons, the shortest of several", () => {
  const graces = (...requests: readonly number[]) => {
    const stops = requests.map((timeoutMs) => stop({ timeoutMs }));
    return play(play(inState("running"), stops).now, [recovered(ALIVE)]).effects.at(-1);
  };
  const end = (timeoutMs: number) => ({ type: "terminate", timeoutMs }) as const;
  assertEquals([graces(60_000), graces(60_000, 0)], [end(60_000), end(0)]);
  const restart = play(inState("running"), [RESTART, stop({ timeoutMs: 60_000 })]).now;
  assertEquals(play(restart, [recovered(ALIVE)]).effects.at(-1), end(5000));
  const over = play(inState("running"), [stop({ timeoutMs: 0 }), terminated(1)]).now;
  assertEquals(over.stopTimeoutMs, null);
});

Deno.test("transition() does not repeat an earlier daemon's signal, and waits for the rest of the grace period", () => {
  const signalled = (at: number): Input => ({ type: "signalled", attempt: 1, at });
  const rest = (...[signalledAt, foundAt, ageMs]: [number, number, number?]) => {
    const stopping = play(inState("running"), [
      stop({ timeoutMs: 60_000 }),
      signalled(signalledAt),
    ]);
    const found = { ...ALIVE, ...ageMs !== undefined && { ageMs } };
    return play(stopping.now, [recovered(found, foundAt)]).effects.at(-1);
  };
  const end = (timeoutMs: number) => ({ type: "terminate", timeoutMs, isSignalled: true }) as const;
  assertEquals(rest(NOON + 1000, NOON + 11_000), end(50_000));
  assertEquals(rest(NOON + 1000, NOON + 999_000), end(0));
  // The clock was set back by an hour, or forward.
  const hour = 3_600_000;
  assertEquals(rest(NOON + 1000, NOON + 11_000 - hour, 11_000), end(50_000));
  assertEquals(rest(NOON + 1000, NOON + 11_000 + hour, 11_000), end(50_000));
  const over = play(inState("running"), [stop(), signalled(NOON), terminated(1)]).now;
  assertEquals(over.signalledAt, null);
});

Deno.test("transition() finishes the stop when the run is found ended while stopping", () => {
  const { now, effects } = play(inState("stopping"), [recovered(ended("SIGTERM"))]);
  assertEquals([now.state, now.lastExit], ["stopped", exitOf("SIGTERM")]);
  // The daemon died before it saw the group end.
  assertEquals([now.leftovers, effects], [[runOf(1)], [{
    type: "clean_up_orphans",
    run: runOf(1),
  }]]);
});

Deno.test("transition() completes the restart when no run is found while stopping", () => {
  const restarting = play(inState("running"), [RESTART]).now;
  const { now, effects } = play(restarting, [recovered(NO_RUN)]);
  assertEquals([now.state, now.attempt], ["starting", 2]);
  assertEquals(effects, [{ type: "clean_up_orphans", run: runOf(1) }, { type: "launch" }]);
});

Deno.test("transition() terminates leftovers of earlier runs until nothing is left", () => {
  const left = play(inState("running"), [exited(1, 1)]).now;
  assertEquals(left.leftovers, [runOf(1)]);
  const release = { type: "release", run: runOf(1) } as const;
  const again = play(left, [recovered(NO_RUN, NOON + 5000)]);
  assertEquals(again.effects, [release, { type: "arm_delay", ms: 0 }]);
  const two = play(again.now, [delayOver(1), launched(2), exited(2, 1)]).now;
  assertEquals(two.leftovers, [runOf(1), runOf(2)]);
  const released = (attempt: number) => ({ type: "released", run: runOf(attempt) }) as const;
  const one = play(two, [released(1)]).now;
  assertEquals(one.leftovers, [runOf(2)]);
  assertEquals(play(one, [released(2)]).now.leftovers, []);
  assertEquals(play(one, [released(7)]).now, one);
});

Deno.test("transition() runs post_start once when the daemon died before it recorded the launch", () => {
  const rules = policy({
    hooks: { postStart: HOOK },
  });
  const hook = { type: "hook", hook: "postStart" } as const;
  const starting = play(inState("starting"), [recovered(ALIVE)], rules);
  assertEquals(starting.effects, [{ type: "adopt" }, hook]);
  // The hook is due until it has begun.
  assertEquals(play(starting.now, [recovered(ALIVE)], rules).effects, [{ type: "adopt" }, hook]);
  const begun = play(starting.now, [{ type: "hook_begun", hook: "postStart" }]).now;
  assertEquals(play(begun, [recovered(ALIVE)], rules).effects, [{ type: "adopt" }]);
  const ends = play(starting.now, [recovered(ended(1))], rules);
  assertEquals([ends.now.dueHooks, ends.effects.includes(hook)], [[], false]);
  // Stopped before the hook began: only the stop's hook is due.
  const both = {
    ...rules,
    hooks: { ...rules.hooks, postStop: rules.hooks.postStart },
  } as typeof rules;
  const stopping = { ...inState("stopping"), leftovers: [], dueHooks: ["postStart"] as const };
  assertEquals(play(stopping, [recovered(ended(0))], both).now.dueHooks, ["postStop"]);
  // A process that still has to become ready runs the hook then.
  const unready = play(inState("starting"), [recovered(ALIVE)], { ...rules, waitReady: true });
  assertEquals(unready.effects, [{ type: "adopt" }]);
});

Deno.test("transition() runs post_restart under a new daemon, at any stage of the restart", () => {
  const rules = policy({ hooks: { postRestart: HOOK } });
  const hook = { type: "hook", hook: "postRestart" } as const;
  const stopping = play(inState("running"), [RESTART], rules).now;
  const starting = play(stopping, [terminated(1)], rules).now;
  const launching = { type: "launching", attempt: 2, run: runOf(2) } as const;
  const begun = play(starting, [launching], rules).now;
  const alive = recovered({ ...ALIVE, run: runOf(2) });
  const ways = [
    [stopping, [recovered(ALIVE), terminated(1), launched(2)]],
    [stopping, [recovered(ended(0)), launched(2)]],
    [starting, [recovered(NO_RUN), launched(3)]],
    [begun, [alive]],
  ] as const;
  for (const [from, events] of ways) {
    const { now, effects } = play(from, events, rules);
    assertEquals(effects.filter(({ type }) => type === "hook"), [hook]);
    assertEquals([now.state, now.hookOnceUp], ["running", null]);
  }
  // A stop cancels the restart.
  const stopped = [stop(), terminated(1), START, launched(2)];
  assertEquals(play(stopping, stopped, rules).effects.includes(hook), false);
});

const OVERLAP = policy({ overlap: true });
const RELOAD = reload();

/** The second run of `RELOAD` takes over. */
function replaced(): Input {
  return { type: "replaced", request: RELOAD.request, at: NOON, run: runOf(2), pid: 2002 };
}

Deno.test("transition() completes a reload with overlap once the old run has ended, also under a new daemon", () => {
  const rules = policy({
    ...OVERLAP,
    hooks: { postStart: HOOK, postStop: HOOK, postReload: HOOK },
  });
  const released = { type: "released", run: runOf(1) } as const;
  const asked = play(inState("running"), [RELOAD], rules);
  assertEquals(asked.effects, [{ type: "launch_successor", request: RELOAD.request }]);
  const over = play(asked.now, [replaced()], rules);
  assertEquals(over.effects, [
    { type: "take_over", run: runOf(2) },
    { type: "hook", hook: "postStart" },
    { type: "release", run: { ...runOf(1), replaced: true } },
  ]);
  const begun = play(over.now, [{ type: "hook_begun", hook: "postStart" }], rules).now;
  const hooks = ["postStop", "postReload"] as const;
  const after = (found: Parameters<typeof recovered>[0]) =>
    play(play(begun, [recovered(found)], rules).now, [released], rules).now.dueHooks;
  assertEquals(play(begun, [released], rules).now.dueHooks, hooks);
  assertEquals(after({ ...ALIVE, run: runOf(2) }), hooks);
  assertEquals(after({ kind: "rebooted", autostart: true }), []);
});

Deno.test("transition() does the step of a reload again that the daemon was killed in", () => {
  const { request } = RELOAD;
  const launching = { type: "successor_launching", request, run: runOf(2) } as const;
  const asked = play(inState("running"), [RELOAD, launching], OVERLAP).now;
  assertEquals([asked.requestStep, asked.successor], ["successor", runOf(2)]);
  const again = play(asked, [recovered(ALIVE)], OVERLAP);
  assertEquals(again.effects, [
    { type: "release", run: runOf(2) },
    { type: "adopt" },
    { type: "launch_successor", request },
  ]);
  assertEquals([again.now.successor, again.now.leftovers], [null, [runOf(2)]]);
  const signal = policy({ reloadSignal: "SIGHUP" });
  const itself = reload({ unchanged: true, proof: true });
  const sent = { type: "reload_signalled", request: itself.request, isSent: true } as const;
  for (const [inputs, effect] of [[[], "reload_signal"], [[sent], "arm_proof"]] as const) {
    const { now } = play(inState("running"), [itself, ...inputs], signal);
    assertEquals(play(now, [recovered(ALIVE)], signal).effects.map(({ type }) => type), [
      "adopt",
      effect,
    ]);
  }
  const hooked = policy({ hooks: { preReload: HOOK } });
  const hook = { type: "before", request, hook: "preReload" } as const;
  const { now } = play(inState("running"), [RELOAD], hooked);
  assertEquals(play(now, [recovered(ALIVE)], hooked).effects, [{ type: "adopt" }, hook]);
});

Deno.test("transition() starts the new configuration when the old run ends while its successor comes up", () => {
  const { request } = reload({ generation: 2 });
  const inputs: Input[] = [
    { type: "replace_requested", request },
    { type: "successor_launching", request, run: runOf(2) },
  ];
  const { now } = play(inState("running"), inputs, OVERLAP);
  for (const end of [exited(1, 1), recovered(ended(1))]) {
    const over = play(now, [end], OVERLAP);
    assertEquals([over.now.state, over.now.generation], ["starting", 2]);
    assertEquals(over.now.leftovers.map(({ runId }) => runId).sort(), ["run-1", "run-2"]);
    assertEquals(over.effects.at(-1), { type: "launch" });
    assertEquals([over.now.requests, over.now.requestFailed], [[], null]);
  }
});

Deno.test("transition() ends the second run of a reload when a later request replaces the run", () => {
  const { request } = reload({ generation: 2 });
  const launching = { type: "successor_launching", request, run: runOf(2) } as const;
  const { now } = play(inState("running"), [reload({ generation: 2 })], OVERLAP);
  const begun = play({ ...now, requests: [request] }, [launching], OVERLAP).now;
  const ending: Effect[] = [{ type: "abandon" }, { type: "release", run: runOf(2) }];
  for (const later of [RESTART, reload({ generation: 3 }), stop()]) {
    const { now, effects } = play(begun, [later], OVERLAP);
    assertEquals(effects.slice(0, 2), ending);
    assertEquals(now.requests.length, later === RESTART || later.type === "stop_requested" ? 0 : 1);
  }
  const queued = play(begun, [reload({ generation: 2 })], OVERLAP);
  assertEquals([queued.effects, queued.now.requests.length], [[], 2]);
});

Deno.test("transition() resets the failure count at a reload with overlap, as at a restart", () => {
  const failed = { consecutiveFailures: 3, totalUptimeMs: 500, restartsAt: [100, 200] };
  const { consecutiveFailures, totalUptimeMs, restartsAt } =
    play({ ...inState("running"), ...failed }, [RELOAD, replaced()], OVERLAP).now;
  assertEquals([consecutiveFailures, totalUptimeMs, restartsAt], [0, 0, []]);
});

Deno.test("transition() waits for the rest of the delay when it was waiting", () => {
  const waiting = { ...inState("waiting"), leftovers: [] };
  assertEquals(waiting.nextRestartAt, NOON + 100);
  for (const [at, ms] of [[NOON + 30, 70], [NOON + 5000, 0]] as const) {
    const { now, effects } = play(waiting, [recovered(NO_RUN, at)]);
    assertEquals([now.state, effects], ["waiting", [{ type: "arm_delay", ms }]]);
  }
});

Deno.test("transition() leaves a process at rest alone when the machine was not rebooted", () => {
  for (const state of ["stopped", "crashed", "errored"] as const) {
    const now = { ...inState(state), leftovers: [] };
    assertEquals(play(now, [recovered(NO_RUN)]), { now, effects: [] });
  }
});

Deno.test("transition() launches after a reboot when it is desired up and has autostart", () => {
  for (const state of STATES) {
    const before = { ...inState(state), leftovers: [] };
    const { now, effects } = play(before, [recovered({ kind: "rebooted", autostart: true })]);
    const up = before.desired === "up";
    assertEquals(now.state, up ? "starting" : "stopped");
    assertEquals(effects, up ? [{ type: "launch" }] : []);
    assertEquals([now.run, now.pid, now.ready, now.nextRestartAt], [null, 0, false, null]);
  }
});

Deno.test("transition() launches nothing after a reboot without autostart", () => {
  for (const state of STATES) {
    const before = { ...inState(state), leftovers: [] };
    const { now, effects } = play(before, [recovered({ kind: "rebooted", autostart: false })]);
    // A process at rest keeps its state and reason.
    const rests = ["crashed", "errored"].includes(state);
    assertEquals([now.state, now.run, effects], [rests ? state : "stopped", null, []]);
  }
});

Deno.test("transition() does not confuse the start time of an earlier run with the adopted run's", () => {
  const later = NOON + 60_000;
  const second = play(inState("waiting"), [delayOver(1)]).now;
  const found = { kind: "alive", run: runOf(2), pid: 2002 } as const;
  assertEquals(play(second, [recovered(found, later)]).now.startedAt, later);
});

Deno.test("transition() does not add the uptime of an earlier run to that of a run found ended", () => {
  // It ran for hours, exited, was launched again, and the daemon was killed before it knew.
  const hours = 5 * 3_600_000;
  const first = play(inState("starting"), [
    launched(1),
    exited(1, 1, { ranForMs: hours, exit: { code: 1, signal: null, at: new Date(NOON + hours) } }),
    delayOver(1),
  ]).now;
  const exit = { code: 1, signal: null, at: new Date(NOON + hours + 200) };
  const { now } = play(first, [recovered({ kind: "ended", exit, random: 0 }, NOON + hours + 5000)]);
  assert(
    now.totalUptimeMs - hours <= 5000,
    `${now.totalUptimeMs - hours} ms counted for a run of 100 ms`,
  );
});

Deno.test("transition() waits no longer than backoff_max when the clock was set back", () => {
  const waiting = play(inState("running"), [exited(1, 1)]).now;
  const at = NOON - 86_400_000;
  const { effects } = play(waiting, [recovered(NO_RUN, at)], policy({ backoffMaxMs: 7000 }));
  assertEquals(effects.at(-1), { type: "arm_delay", ms: 7000 });
});

Deno.test("transition() uses the kernel's age of a run when the clock was set", () => {
  for (const set of [86_400_000, -86_400_000]) {
    const at = NOON + 10_000 + set;
    const alive = play(inState("running"), [recovered({ ...ALIVE, ageMs: 10_000 }, at)]);
    assertEquals(alive.now.startedAt, at - 10_000);
    const exit = { code: 1, signal: null, at: new Date(at - 4000) };
    const found = { kind: "ended", exit, random: 0, ageMs: 10_000 } as const;
    assertEquals(play(inState("running"), [recovered(found, at)]).now.totalUptimeMs, 6000);
  }
});

Deno.test("transition() counts a restart once, wherever the daemon died on the way", () => {
  const due = play(inState("waiting"), [delayOver(1)]).now;
  const restarts = (steps: Parameters<typeof play>[1]) => play(due, steps).now.restarts;
  assertEquals(restarts([launched(2), recovered(ALIVE)]), 1);
  assertEquals(restarts([launched(2), recovered(ended(1))]), 1);
  assertEquals(restarts([recovered(ALIVE)]), 1);
  assertEquals(restarts([recovered(ended(1))]), 1);
  assertEquals(restarts([recovered(NO_RUN), launched(3)]), 1);
  assertEquals(restarts([recovered(NO_RUN), recovered(NO_RUN), launched(4)]), 1);
  // A restart that is stopped on the way does not count.
  assertEquals(restarts([stop(), terminated(2)]), 0);
  assertEquals(restarts([stop(), recovered(NO_RUN)]), 0);
  assertEquals(restarts([stop(), launched(2), terminated(2)]), 1);
});
