/** The steps from which the state table is built. Pure. */

import type { HookName, ProcessConfig } from "./process_config.ts";
import type { EndCause, Exit, ProcessState } from "./process_info.ts";
import type { Effect, Input, RestartHook, Run, Snapshot } from "./process_state.ts";
import {
  budgetLeft,
  ranStably,
  recentRestarts,
  restartDelay,
  rowAtStart,
} from "./restart_budget.ts";

/** The part of a configuration that decides transitions. */
export type Policy = Pick<
  ProcessConfig,
  | "restartPolicy"
  | "maxRestarts"
  | "restartWindowMs"
  | "restartDelayMs"
  | "backoffMaxMs"
  | "minUptimeMs"
  | "successExitCodes"
  | "stopTimeoutMs"
  | "dependsOn"
  | "waitReady"
  | "readyLog"
  | "readyDelayMs"
  | "hooks"
  | "overlap"
  | "reloadSignal"
  | "listenTimeoutMs"
  | "startOn"
>;

/** The next snapshot, and the effects to perform. */
export type Step = readonly [Snapshot, readonly Effect[]];

type InputOf<T extends Input["type"]> = Extract<Input, { type: T }>;

/** States in which nothing runs and no restart is due. */
export const AT_REST: ReadonlySet<ProcessState> = new Set(["stopped", "crashed", "errored"]);

/** Whether a process counts as running only once it is ready. */
export function wantsReadiness(
  policy: Pick<Policy, "waitReady" | "readyLog" | "readyDelayMs">,
): boolean {
  return policy.waitReady || policy.readyLog !== undefined || policy.readyDelayMs !== undefined;
}

/** Whether health checks may make it ready: an output or a delay that is awaited decides alone. */
export function isReadyByHealth({ readyLog, readyDelayMs }: Pick<
  Policy,
  "readyLog" | "readyDelayMs"
>): boolean {
  return readyLog === undefined && readyDelayMs === undefined;
}

export function stopDesired(now: Snapshot, input: InputOf<"stop_requested">): Snapshot {
  const lastReason = input.reason ?? "stopped by user";
  return {
    ...now,
    desired: "down",
    hookOnceUp: null,
    stopCause: null,
    endCause: now.run === null ? null : input.cause ?? "user",
    endFailed: false,
    lastReason,
  };
}

/** A user wants it started again once it has stopped. */
export function upAgain(now: Snapshot, reason: string): Snapshot {
  return { ...now, desired: "up", leaving: false, stopCause: "asked", lastReason: reason };
}

/** Stops the run and remembers what comes next. */
export function endFor(
  stopCause: Snapshot["stopCause"],
  endCause: EndCause,
  now: Snapshot,
  reason: string,
  policy: Policy,
): Step {
  const next: Snapshot = { ...now, state: "stopping", stopCause, endCause, lastReason: reason };
  return [next, [terminate(next, policy.stopTimeoutMs)]];
}

/** The effect that ends a run. A hanging app leaves a core dump, as under systemd. */
export function terminate(
  { endCause }: Pick<Snapshot, "endCause">,
  timeoutMs: number,
): Extract<Effect, { type: "terminate" }> {
  return { type: "terminate", timeoutMs, ...endCause === "watchdog" && { signal: "SIGABRT" } };
}

/** What a user's start, restart or reload forgets. */
export const FORGIVEN = { consecutiveFailures: 0, totalUptimeMs: 0, restartsAt: [] } as const;

/**
 * A start by a user, or the one of a restart: forgets earlier failures and waits for dependencies
 * first.
 */
export function freshStart(
  now: Snapshot,
  reason: string,
  policy: Policy,
  hookOnceUp: RestartHook | null = null,
): Step {
  const fresh: Snapshot = {
    ...now,
    ...FORGIVEN,
    launchedBy: "user",
    desired: "up",
    nextRestartAt: null,
    hookOnceUp,
    stopCause: null,
    lastReason: reason,
  };
  return onceDependenciesMeet(fresh, policy);
}

/** A start by a user, or after a reboot. An app with `start_on` starts once a client connects. */
export function startDesired(now: Snapshot, reason: string, policy: Policy): Step {
  if (policy.startOn === undefined) return freshStart(now, reason, policy);
  return awaitConnection({ ...now, ...FORGIVEN, desired: "up", leaving: false });
}

function awaitConnection(now: Snapshot, why = ""): Step {
  const lastReason = `${why}waiting for a connection`;
  const next: Snapshot = {
    ...now,
    ...{ state: "waiting", awaiting: "connection", lastReason },
    ...{ nextRestartAt: null, hookOnceUp: null, stopCause: null, endFailed: false },
  };
  return [next, [{ type: "await_connection" }]];
}

/** A client has connected. The budget stays: clients must not start a failing app for ever. */
export function connected(now: Snapshot, address: string, policy: Policy): Step {
  const lastReason = `started by a connection to ${address}`;
  const fresh: Snapshot = { ...now, launchedBy: "user", awaiting: null, lastReason };
  return onceDependenciesMeet(fresh, policy);
}

function onceDependenciesMeet(fresh: Snapshot, policy: Policy): Step {
  const dependencies = Object.keys(policy.dependsOn);
  if (dependencies.length === 0) return launch(fresh);
  return [
    {
      ...fresh,
      state: "waiting",
      awaiting: "dependencies",
      lastReason: `waiting for ${dependencies.join(", ")}`,
    },
    [{ type: "await_dependencies" }],
  ];
}

/** Begins the next attempt. */
export function launch(now: Snapshot): Step {
  const next: Snapshot = {
    ...now,
    state: "starting",
    attempt: now.attempt + 1,
    watchRestarts: rowAtStart(now.watchRestarts),
    ready: false,
    startedAt: null,
    finishedAt: null,
    nextRestartAt: null,
    awaiting: null,
    stopCause: null,
    endFailed: false,
  };
  return [next, [{ type: "launch" }]];
}

/** The same step, after cancelling pending timers and waits. */
export function disarmed([now, effects]: Step): Step {
  return [now, [{ type: "disarm" }, ...effects]];
}

/** The run was terminated on request. `before` is performed ahead of the effects that follow. */
export function terminated(
  now: Snapshot,
  input: Omit<InputOf<"terminated">, "type" | "attempt">,
  policy: Policy,
  before: readonly Effect[] = [],
): Step {
  const over: Snapshot = {
    ...finished(now, input.exit ?? now.lastExit, input.at, input.ranForMs),
    stopTimeoutMs: null,
    signalledAt: null,
    stopCause: null,
  };
  const { left, problem } = input;
  if (left.length > 0 || problem !== undefined) {
    // Do not start it again: it would run twice. The next daemon tries again to stop the rest.
    const state = now.desired === "up" ? "errored" : "stopped";
    const lastReason = left.length > 0
      ? `could not end pid ${left.join(", ")}`
      : `could not end it: ${problem}`;
    return [{ ...over, state, endFailed: true, leftovers: leftBy(now), lastReason }, []];
  }
  const [next, effects] = afterwards(over, now, input, policy);
  return [next, [...before, ...hookEffects(policy, "postStop"), ...effects]];
}

function afterwards(
  over: Snapshot,
  { desired, stopCause, lastReason }: Snapshot,
  input: { at: number; random: number },
  policy: Policy,
): Step {
  if (desired === "down") return [{ ...over, state: "stopped" }, []];
  // Its end is an event now.
  if (stopCause === "failed") return failed({ ...over, endCause: null }, input, policy, []);
  if (stopCause === "recycled") return recycled(over, policy);
  if (stopCause === "idle") return awaitConnection(over, `${lastReason}; `);
  return freshStart(over, lastReason, policy, over.hookOnceUp);
}

/**
 * Counts an automatic restart once it leads to a launch. A restart that is stopped before, or whose
 * daemon is killed before, does not count.
 */
export function counted(now: Snapshot): Snapshot {
  const isCounted = now.startedAt !== null || now.launchedBy === "user";
  return isCounted ? now : { ...now, restarts: now.restarts + 1 };
}

/** The run is up, and ready if readiness is configured. */
export function running(now: Snapshot, policy: Policy): Step {
  return [
    { ...now, state: "running", ready: true, hookOnceUp: null },
    hookEffects(policy, "postStart", ...(now.hookOnceUp === null ? [] : [now.hookOnceUp])),
  ];
}

/** Whether it runs and its pid is known. */
export function isUp({ state, pid }: Snapshot): boolean {
  return state === "running" && pid > 0;
}

/** Runs hooks in the background, if they are configured. */
export function hookEffects({ hooks }: Policy, ...names: readonly HookName[]): Effect[] {
  return names.filter((hook) => hooks[hook] !== undefined)
    .map((hook) => ({ type: "hook", hook }));
}

/** Restarts at once but within the budget: a limit that is always hit must not loop forever. */
function recycled(over: Snapshot, policy: Policy): Step {
  return withinBudget(over, policy, [], (next) => {
    const [launched, effects] = launch({ ...next, launchedBy: "automatic" });
    return [{ ...launched, hookOnceUp: "postRestart" }, effects];
  });
}

function finished(now: Snapshot, exit: Exit | null, at: number, ranForMs: number): Snapshot {
  return {
    ...now,
    run: null,
    pid: 0,
    ready: false,
    lastExit: exit,
    finishedAt: at,
    totalUptimeMs: now.totalUptimeMs + ranForMs,
  };
}

/** The runs that may have left processes behind once the current run is over. */
export function leftBy({ leftovers, run }: Snapshot): readonly Run[] {
  return run === null ? leftovers : [...leftovers, run];
}

/** Kills what the current run left behind. */
export function orphanCleanup({ run }: Snapshot): Effect[] {
  return run === null ? [] : [{ type: "clean_up_orphans", run }];
}

/** The app ended by itself: the policy decides what comes next. */
export function exited(
  now: Snapshot,
  input: { exit: Exit; ranForMs: number; random: number },
  policy: Policy,
): Step {
  const { exit, ranForMs, random } = input;
  const at = exit.at.getTime();
  if (exit.refused) {
    const reason = "the system had no process for it";
    const [next, effects] = refused(now, { at, random, reason }, policy);
    return [{ ...next, leftovers: leftBy(now) }, [...orphanCleanup(now), ...effects]];
  }
  const cleanUp = orphanCleanup(now);
  const over: Snapshot = {
    ...finished(counted(now), exit, at, ranForMs),
    leftovers: leftBy(now),
    consecutiveFailures: ranStably(policy, ranForMs) ? 0 : now.consecutiveFailures,
    lastReason: describeExit(exit),
  };
  if (isSuccess(exit, policy) && policy.restartPolicy !== "always") {
    return policy.startOn === undefined
      ? [{ ...over, state: "stopped" }, cleanUp]
      : connectable(over, policy, cleanUp);
  }
  // The next event after a success is that of the restart.
  const endCause = isSuccess(exit, policy) ? "exit" : null;
  return failed({ ...over, endCause }, { at, random }, policy, cleanUp);
}

/**
 * The app has ended by itself, such as when it was idle: the next connection starts it. Within the
 * budget, as the connection that it should have accepted may still wait.
 */
function connectable(over: Snapshot, policy: Policy, effects: readonly Effect[]): Step {
  return withinBudget(
    over,
    policy,
    effects,
    (next) => awaitConnection(next, `${over.lastReason}; `),
  );
}

/** The system could not launch it: try again with growing delays. The restart budget is not used. */
export function refused(
  now: Snapshot,
  { at, random, reason }: { at: number; random: number; reason: string },
  policy: Policy,
): Step {
  const ms = restartDelay(policy, now.consecutiveFailures, random);
  return [
    {
      ...now,
      state: "waiting",
      awaiting: "machine",
      run: null,
      pid: 0,
      ready: false,
      consecutiveFailures: now.consecutiveFailures + 1,
      nextRestartAt: at + ms,
      lastReason: reason,
    },
    [{ type: "arm_delay", ms }],
  ];
}

/** Restarts after a delay, if the policy and the budget allow it. */
function failed(
  over: Snapshot,
  { at, random }: { at: number; random: number },
  policy: Policy,
  effects: readonly Effect[],
): Step {
  if (policy.restartPolicy === "never") return [{ ...over, state: "crashed" }, effects];
  const ms = restartDelay(policy, over.consecutiveFailures, random);
  return withinBudget(over, policy, effects, (next) => [
    {
      ...next,
      state: "waiting",
      awaiting: "delay",
      launchedBy: "automatic",
      hookOnceUp: null,
      consecutiveFailures: over.consecutiveFailures + 1,
      nextRestartAt: at + ms,
    },
    [{ type: "arm_delay", ms }],
  ]);
}

/** Counts a restart and takes the next step, or gives up if the budget is used up. */
function withinBudget(
  over: Snapshot,
  policy: Policy,
  effects: readonly Effect[],
  step: (counted: Snapshot) => Step,
): Step {
  const recent = recentRestarts(policy, over.restartsAt, over.totalUptimeMs);
  if (!budgetLeft(policy, recent)) {
    const count = `${recent.length} ${recent.length === 1 ? "restart" : "restarts"}`;
    const lastReason = `${over.lastReason}, ${count} used up`;
    return [{ ...over, state: "errored", lastReason }, effects];
  }
  const [next, more] = step({ ...over, restartsAt: [...recent, over.totalUptimeMs] });
  return [next, [...effects, ...more]];
}

/** Signals that ended an app, unless it exited with 130 or 141: a shell does not tell which. */
const PERHAPS_CODES: ReadonlySet<string | null> = new Set(["SIGINT", "SIGPIPE"]);

/** Whether the app exited by itself with one of its success codes. */
export function isSuccess(
  exit: Pick<Exit, "code" | "signal"> | null,
  policy: Pick<Policy, "successExitCodes">,
): boolean {
  if (exit === null || exit.signal !== null && !PERHAPS_CODES.has(exit.signal)) return false;
  return policy.successExitCodes.includes(exit.code ?? -1);
}

/** `exited with code 1`, `ended by SIGSEGV`, `exit code unknown`, `out of memory: …`. */
export function describeExit(exit: Exit): string {
  if (exit.oom) return "out of memory: the kernel killed it";
  if (exit.signal !== null) return `ended by ${exit.signal}`;
  return exit.code === null ? "ended, exit code unknown" : `exited with code ${exit.code}`;
}
