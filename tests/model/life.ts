/** Helpers for state machine tests: policies, exits, and snapshots in any state. */

import type { Exit, ProcessState } from "../../src/model/process_info.ts";
import {
  type Effect,
  type Input,
  NEW,
  type ReplaceRequest,
  type Run,
  type Snapshot,
} from "../../src/model/process_state.ts";
import type { Policy } from "../../src/model/transition_steps.ts";
import { transition } from "../../src/model/transition.ts";

/** The default configuration with the changes of a test. */
export function policy(changes: Partial<Policy> = {}): Policy {
  return {
    restartPolicy: "on-failure",
    maxRestarts: 10,
    restartWindowMs: 60_000,
    restartDelayMs: 100,
    backoffMaxMs: 60_000,
    minUptimeMs: 1000,
    successExitCodes: [0],
    stopTimeoutMs: 5000,
    listenTimeoutMs: 30_000,
    dependsOn: {},
    waitReady: false,
    hooks: {},
    overlap: false,
    ...changes,
  };
}

/** A fixed time, in milliseconds since the epoch, that all tests share. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** The launch of the given attempt. */
export function runOf(attempt: number): Run {
  const wrapper = { wrapperPid: 1000 + attempt, wrapperStart: "1", bootId: "boot" };
  return { runId: `run-${attempt}`, generation: 1, ...wrapper };
}

/** The exit of an app, with a code or by a signal. */
export function exitOf(how: number | string | null): Exit {
  return typeof how === "string"
    ? { code: 143, signal: how, at: new Date(NOON) }
    : { code: how, signal: null, at: new Date(NOON) };
}

type Of<T extends Input["type"]> = Extract<Input, { type: T }>;

/** A request to stop. */
export function stop(changes: Partial<Of<"stop_requested">> = {}): Input {
  return { type: "stop_requested", timeoutMs: 5000, ...changes };
}

/** A request to restart. */
export const RESTART: Input = {
  type: "replace_requested",
  request: { verb: "restart", reason: "restarted by user" },
};

/** A reload, with other changes to the request. */
export function reload(changes: Partial<ReplaceRequest> = {}): Of<"replace_requested"> {
  const request = { verb: "reload", reason: "reloaded by user", ...changes } as const;
  return { type: "replace_requested", request };
}

/** A request to start. */
export const START: Input = { type: "start_requested" };

/** The launch of an attempt succeeded. */
export function launched(attempt: number): Input {
  return { type: "launched", attempt, at: NOON, run: runOf(attempt) };
}

/** The app of an attempt exited by itself. */
export function exited(
  attempt: number,
  how: number | string | null,
  changes: Partial<Of<"exited">> = {},
): Input {
  return { type: "exited", attempt, exit: exitOf(how), ranForMs: 10, random: 0, ...changes };
}

/** Every process of an attempt has exited after a stop. */
export function terminated(attempt: number, changes: Partial<Of<"terminated">> = {}): Input {
  const how = { exit: exitOf("SIGTERM"), left: [], ranForMs: 10, random: 0 };
  return { type: "terminated", attempt, at: NOON, ...how, ...changes };
}

/** What a new daemon found. */
export function recovered(found: Of<"recovered">["found"], at = NOON): Input {
  return { type: "recovered", at, found };
}

/** The result of an attempt's readiness check. */
export function becameReady(attempt: number): Input {
  return { type: "became_ready", attempt };
}

/** An attempt missed its readiness timeout. */
export function readyTimedOut(attempt: number): Input {
  return { type: "ready_timed_out", attempt, reason: "not ready within 30s" };
}

/** An attempt must be replaced. */
export function recycle(attempt: number, reason = "unhealthy: no answer"): Input {
  return { type: "recycle_requested", attempt, reason, cause: "health" };
}

/** The dependencies are ready, for a process with that many attempts. */
export function dependenciesMet(attempt: number): Input {
  return { type: "dependencies_met", attempt };
}

/** A dependency can no longer become ready. */
export function dependencyFailed(attempt: number): Input {
  return { type: "dependency_failed", attempt, reason: 'depends on "db", which is errored' };
}

/** The delay before an attempt's restart is over. */
export function delayOver(attempt: number): Input {
  return { type: "delay_over", attempt };
}

/** The snapshot after `events`, starting from `from`, and all effects on the way. */
export function play(
  from: Snapshot,
  events: readonly Input[],
  rules: Policy = policy(),
): { now: Snapshot; effects: Effect[] } {
  let now = from;
  const effects: Effect[] = [];
  for (const event of events) {
    const [next, asked] = transition(now, event, () => rules);
    now = next;
    effects.push(...asked);
  }
  return { now, effects };
}

const WAYS: Readonly<Record<ProcessState, readonly [Partial<Policy>, readonly Input[]]>> = {
  stopped: [{}, [START, launched(1), stop(), terminated(1)]],
  starting: [{}, [START]],
  running: [{}, [START, launched(1), { type: "pid_known", attempt: 1, pid: 2001 }]],
  stopping: [{}, [START, launched(1), stop()]],
  crashed: [{ restartPolicy: "never" }, [START, launched(1), exited(1, 1)]],
  errored: [{ maxRestarts: 0 }, [START, launched(1), exited(1, 1)]],
  waiting: [{}, [START, launched(1), exited(1, 1)]],
};

/** A process that reached a state by itself, in its first attempt. */
export function inState(state: ProcessState): Snapshot {
  const [changes, events] = WAYS[state];
  return play(NEW, events, policy(changes)).now;
}

/** All states. */
export const STATES = Object.keys(WAYS) as ProcessState[];
