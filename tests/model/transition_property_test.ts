/** Invariants of a process's life that hold for any sequence of events. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type Input,
  NEW,
  type ReplaceRequest,
  type Snapshot,
} from "../../src/model/process_state.ts";
import type { Policy } from "../../src/model/transition_steps.ts";
import { transition } from "../../src/model/transition.ts";
import {
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  launched,
  NOON,
  play,
  policy,
  runOf,
  START,
} from "./life.ts";
import { SmallWorld, STEPS } from "./small_world.ts";

const HOOK = { command: "true", timeoutMs: 1000, ignoreFailure: false, runAsRoot: false };

const policies: fc.Arbitrary<Policy> = fc.record({
  restartPolicy: fc.constantFrom("always", "on-failure", "never"),
  maxRestarts: fc.nat(5),
  restartWindowMs: fc.nat(100_000),
  restartDelayMs: fc.nat(10_000),
  backoffMaxMs: fc.nat(100_000),
  minUptimeMs: fc.nat(2000),
  successExitCodes: fc.constantFrom([0], [], [0, 1]),
  stopTimeoutMs: fc.nat(10_000),
  listenTimeoutMs: fc.nat(10_000),
  dependsOn: fc.constantFrom<Policy["dependsOn"]>({}, { db: "ready" }),
  waitReady: fc.boolean(),
  hooks: fc.constantFrom<Policy["hooks"]>(
    {},
    { postStart: HOOK },
    { postStart: HOOK, postStop: HOOK },
    { preRestart: HOOK, preReload: HOOK, postReload: HOOK },
  ),
  overlap: fc.boolean(),
  reloadSignal: fc.constantFrom(undefined, "SIGHUP"),
});

const exits = fc.record({
  code: fc.option(fc.nat(255)),
  signal: fc.option(fc.constantFrom("SIGTERM", "SIGSEGV")),
  at: fc.nat(1000).map((ms) => new Date(NOON + ms)),
});

const attempts = fc.nat(4);
const at = fc.nat(1000).map((ms) => NOON + ms);
const runs = attempts.map(runOf);
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const found = fc.oneof(
  fc.record({ kind: fc.constant("rebooted" as const), autostart: fc.boolean() }),
  fc.record({ kind: fc.constant("alive" as const), run: runs, pid: fc.nat() }),
  fc.record({ kind: fc.constant("ended" as const), exit: exits, random }),
  fc.record({ kind: fc.constant("no_run" as const) }),
);

function event<T extends Input["type"], R>(
  type: T,
  rest: { [K in keyof R]: fc.Arbitrary<R[K]> },
) {
  return fc.record({ type: fc.constant(type), ...rest }) as unknown as fc.Arbitrary<Input>;
}

const generations = fc.integer({ min: 1, max: 4 });

/** The same objects again and again: the inputs of a request carry it. */
const requests = fc.constantFrom<ReplaceRequest>(
  { verb: "restart", reason: "by user" },
  { verb: "reload", reason: "by user", unchanged: true },
  { verb: "reload", reason: "by user", unchanged: true, proof: true },
  { verb: "reload", reason: "by user", generation: 2 },
  { verb: "reload", reason: "by user", generation: 3 },
);

/** Any event, whether or not it makes sense. */
const events: fc.Arbitrary<Input> = fc.oneof(
  event("start_requested", {}),
  event("stop_requested", { timeoutMs: fc.nat(10_000) }),
  event("leaving", { leaving: fc.boolean() }),
  event("pending", {
    request: fc.constantFrom(
      null,
      ...(["start", "stop", "restart", "reload"] as const).map((verb) => ({ verb })),
    ),
  }),
  event("replace_requested", { request: requests }),
  event("generation", { generation: generations }),
  event("before_over", { request: requests }),
  event("reload_signalled", { request: requests, isSent: fc.boolean() }),
  event("proof_over", { request: requests }),
  event("successor_launching", { request: requests, run: runs }),
  event("successor_failed", {
    request: requests,
    failure: fc.constant({ code: "start_failed" as const, why: "it ended at once" }),
  }),
  event("replaced", { request: requests, at, run: runs, pid: fc.nat() }),
  event("released", { run: runs }),
  event("launching", { attempt: attempts, run: runs }),
  event("launch_failed", { attempt: attempts, reason: fc.string() }),
  event("launch_failed", {
    attempt: attempts,
    reason: fc.string(),
    lack: fc.record({ at, random }),
  }),
  event("launched", { attempt: attempts, at, run: runs }),
  event("pid_known", { attempt: attempts, pid: fc.nat() }),
  event("exited", { attempt: attempts, exit: exits, ranForMs: fc.nat(20_000), random }),
  event("signalled", { attempt: attempts, at }),
  event("terminated", {
    attempt: attempts,
    at,
    exit: fc.option(exits),
    left: fc.array(fc.nat(), { maxLength: 2 }),
    ranForMs: fc.nat(20_000),
    random,
  }),
  event("became_ready", { attempt: attempts }),
  event("ready_timed_out", { attempt: attempts, reason: fc.string() }),
  event("recycle_requested", {
    ...{ attempt: attempts, reason: fc.string() },
    cause: fc.constantFrom("memory", "age", "health"),
  }),
  event("file_changed", { attempt: attempts, at, upForMs: fc.nat(10_000) }),
  event("dependencies_met", { attempt: attempts }),
  event("dependency_failed", { attempt: attempts, reason: fc.string() }),
  event("delay_over", { attempt: attempts }),
  event("recovered", { at, found }),
);

/** Checks each step of a random sequence of events. */
function holdsAtEveryStep(check: (before: Snapshot, event: Input, rules: Policy) => void) {
  fc.assert(fc.property(policies, fc.array(events, { maxLength: 40 }), (rules, sequence) => {
    let now = NEW;
    for (const event of sequence) {
      check(now, event, rules);
      now = transition(now, event, () => rules)[0];
    }
  }));
}

Deno.test("transition() accepts every event in every state", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after, effects] = transition(before, event, () => rules);
    assertEquals(Object.keys(after).sort(), Object.keys(NEW).sort());
    assert(Array.isArray(effects));
  });
});

Deno.test("transition() launches only when nothing runs, once per step, with a new attempt", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after, effects] = transition(before, event, () => rules);
    const launches = effects.filter((effect) => effect.type === "launch").length;
    assertEquals(after.attempt, before.attempt + launches);
    assert(launches <= 1);
    if (launches === 1) assertEquals([after.state, after.run, after.pid], ["starting", null, 0]);
  });
});

Deno.test("transition() never decreases restarts, and counts at most one per attempt", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after] = transition(before, event, () => rules);
    assert([0, 1].includes(after.restarts - before.restarts));
    // The first attempt is not a restart.
    assert(after.restarts <= Math.max(0, after.attempt - 1));
  });
});

Deno.test("transition() has a next restart time exactly while it waits for a delay", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after] = transition(before, event, () => rules);
    assertEquals(after.awaiting !== null, after.state === "waiting");
    assertEquals(after.nextRestartAt !== null, isDelay(after));
  });
});

Deno.test("transition() ignores the end of a wait other than the current one", () => {
  const depending = play(NEW, [START], policy({ dependsOn: { db: "ready" } })).now;
  assertEquals(transition(depending, delayOver(0), () => policy())[0], depending);
  const delayed = play(NEW, [START, launched(1), exited(1, 1)]).now;
  for (const other of [dependenciesMet(1), dependencyFailed(1)]) {
    assertEquals(transition(delayed, other, () => policy())[0], delayed);
  }
});

/** True if the wait ends after a time. */
function isDelay({ awaiting }: Snapshot): boolean {
  return awaiting === "delay" || awaiting === "machine";
}

Deno.test("transition() never waits without an effect that ends the wait", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after, effects] = transition(before, event, () => rules);
    if (after.state !== "waiting") return;
    const begun = isDelay(after) ? "arm_delay" : "await_dependencies";
    const goesOn = before.state === "waiting" && before.awaiting === after.awaiting;
    const types = effects.map(({ type }) => type);
    if (!goesOn || types.includes("disarm")) assert(types.includes(begun), begun);
  });
});

Deno.test("transition() has a stop cause only while it stops a process that is desired up", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [{ state, desired, stopCause, signalledAt }] = transition(before, event, () => rules);
    assertEquals(stopCause !== null, state === "stopping" && desired === "up");
    assert(signalledAt === null || state === "stopping");
  });
});

Deno.test("transition() is running only when ready, and runs only configured hooks", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after, effects] = transition(before, event, () => rules);
    if (after.state === "running") assert(after.ready);
    for (const effect of effects) {
      if (effect.type === "hook") assert(rules.hooks[effect.hook] !== undefined, effect.hook);
    }
  });
});

Deno.test("transition() has no run, pid or readiness at rest", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [{ state, run, pid, ready }] = transition(before, event, () => rules);
    if (["starting", "running", "stopping"].includes(state)) return;
    assertEquals([run, pid, ready], [null, 0, false]);
  });
});

Deno.test("transition() changes `desired` only on a user's request", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after] = transition(before, event, () => rules);
    const byUser = ["start_requested", "stop_requested"];
    // After a reboot a start takes place whose turn had not come.
    const isPending = event.type === "recovered" && before.pending?.verb === "start";
    const isAsked = before.requests.length > 0 || event.type === "replace_requested";
    if (!byUser.includes(event.type) && !isPending && !isAsked) {
      assertEquals(after.desired, before.desired);
    }
  });
});

Deno.test("transition() has a step exactly while a request is under way, and a second run only in one", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [{ requests, requestStep, state, successor }] = transition(before, event, () => rules);
    assertEquals(requestStep !== null, requests.length > 0);
    if (requestStep !== null && requestStep !== "before") assertEquals(state, "running");
    if (successor !== null) assertEquals(requestStep, "successor");
  });
});

Deno.test("transition() keeps its generation until the run is left, or told of another one", () => {
  holdsAtEveryStep((before, event, rules) => {
    const [after] = transition(before, event, () => rules);
    if (after.generation === before.generation || event.type === "generation") return;
    const isLeft = after.state !== "running" || after.run?.runId !== before.run?.runId;
    assert(isLeft || before.requestStep === "signal" || before.requestStep === "proof");
  });
});

/** Calls `holds` after a random sequence of steps. */
function afterAnything(holds: (world: SmallWorld) => void): void {
  const anything = fc.array(fc.constantFrom(...STEPS), { maxLength: 60 });
  const property = fc.property(policies, anything, (rules, steps) => {
    const world = new SmallWorld(rules);
    for (const step of steps) world.take(step);
    holds(world);
  });
  fc.assert(property, { numRuns: 500 });
}

Deno.test("transition() never runs two at once, in any order of steps", () => {
  // SmallWorld itself fails when two would run.
  afterAnything(() => {});
});

Deno.test("transition() reaches the desired state once every event is delivered", () => {
  afterAnything((world) => {
    world.settle();
    const { state, desired } = world.now;
    assertEquals(world.alive, state === "running");
    if (desired === "down") assertEquals(state, "stopped");
    else assert(!["starting", "stopping", "waiting"].includes(state), state);
  });
});

Deno.test("transition() ends stopped when the last request is a stop", () => {
  afterAnything((world) => {
    world.take("stop");
    world.settle();
    assertEquals([world.now.state, world.alive], ["stopped", false]);
  });
});

Deno.test("transition() carries out every request, or fails it, once every event is delivered", () => {
  afterAnything((world) => {
    world.settle();
    assertEquals([world.now.requests, world.now.leftovers], [[], []]);
  });
});

Deno.test("transition() launches the latest configuration that was asked for, whenever the daemon dies", () => {
  afterAnything((world) => {
    world.take("start");
    world.settle();
    if (world.now.state !== "running") return;
    world.take("reload with another configuration");
    for (const died of [true, false]) {
      if (died) world.take("daemon dies");
      world.settle();
    }
    assertEquals(world.now.generation, world.generation);
    assertEquals([world.now.state, world.now.run?.generation], ["running", world.generation]);
  });
});

Deno.test("transition() gives up after maxRestarts quick failures with any backoff", () => {
  const quick = fc.record({
    maxRestarts: fc.nat(20),
    restartWindowMs: fc.integer({ min: 1, max: 3_600_000 }),
    restartDelayMs: fc.nat(3_600_000),
    backoffMaxMs: fc.nat(86_400_000),
    minUptimeMs: fc.integer({ min: 1, max: 10_000 }),
    share: fc.double({ min: 0, max: 0.99, noNaN: true }),
  });
  fc.assert(fc.property(quick, random, ({ share, ...changes }, chance) => {
    const rules = policy(changes);
    // All runs fall within the window.
    const ranForMs = Math.floor(share * rules.restartWindowMs / (rules.maxRestarts + 1));
    let { now } = play(NEW, [START]);
    while (now.state === "starting" && now.restarts <= rules.maxRestarts) {
      const { attempt } = now;
      const failure = exited(attempt, 1, { ranForMs, random: chance });
      now = play(now, [launched(attempt), failure, delayOver(attempt)], rules).now;
    }
    assertEquals([now.state, now.restarts], ["errored", rules.maxRestarts]);
  }));
});
