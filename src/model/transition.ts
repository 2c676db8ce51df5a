/**
 * The life of one process, as a table.
 *
 * What is wanted (`wish`) is kept apart from what is (`state`), and only a user changes it: a later
 * wish overtakes an earlier one by rewriting it, so a stop beats a pending restart without a flag. Every event is legal in every
 * state: a cell of the table either changes something, or there is no cell and nothing happens.
 * Anything slow (a hook, an exit, a timer) is an effect, and comes back as another event.
 * Events of an attempt carry its number, and those of an earlier attempt are ignored.
 *
 * - `starting`  wanted up, being launched, or launched and not ready yet
 * - `running`   launched, and ready where readiness is asked for
 * - `stopping`  being ended; what happens then is up to the wish
 * - `stopped`   wanted down, or done with success
 * - `crashed`   ended by itself, and the policy leaves it there
 * - `errored`   could not be started, or used up its restarts
 * - `waiting`   wanted up, nothing running: a restart is due later
 */

import type { ProcessConfig } from "./process_config.ts";
import type { Exit, ProcessState } from "./process_info.ts";
import type { Effect, ProcessEvent, Run, Snapshot } from "./process_state.ts";
import { budgetLeft, ranStably, recentRestarts, restartDelay } from "./restart_budget.ts";

/** What is decided by the configuration. */
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
>;

/** The next snapshot, and what must be done. */
export type Step = readonly [Snapshot, readonly Effect[]];

type Cell<E extends ProcessEvent = ProcessEvent> = (
  now: Snapshot,
  event: E,
  policy: Policy,
) => Step;
type Row = { readonly [T in ProcessEvent["type"]]?: Cell<Extract<ProcessEvent, { type: T }>> };

const AT_REST: ReadonlySet<ProcessState> = new Set(["stopped", "crashed", "errored"]);

const RESTING: Row = {
  recovered: (now, event) =>
    event.found.kind === "rebooted" ? afterReboot(now, event.found.autostart) : [now, []],
  start_requested: (now) => freshStart(now, "started by user"),
  restart_requested: (now, event) => freshStart(now, event.reason),
  stop_requested: (now, event) => [
    { ...now, state: "stopped", wish: "down", lastReason: event.reason ?? "stopped by user" },
    [],
  ],
};

const ALIVE: Row = {
  recovered: (now, event, policy) => {
    const { found, at } = event;
    if (found.kind === "rebooted") return afterReboot(now, found.autostart);
    if (found.kind === "alive") return adopted(now, found, at);
    if (found.kind === "no_run") return launch({ ...now, run: null, pid: 0 });
    const ranForMs = Math.max(0, found.exit.at.getTime() - (now.startedAt ?? at));
    return ended(now, { ...found, ranForMs }, policy);
  },
  pid_known: (now, event) => [{ ...now, pid: event.pid }, []],
  stop_requested: (now, event) => [
    { ...now, state: "stopping", wish: "down", lastReason: event.reason ?? "stopped by user" },
    [{ type: "end", timeoutMs: event.timeoutMs }],
  ],
  restart_requested: (now, event, policy) => [
    { ...now, state: "stopping", wish: "up", lastReason: event.reason },
    [{ type: "end", timeoutMs: policy.stopTimeoutMs }],
  ],
  exited: ended,
};

const TABLE: Readonly<Record<ProcessState, Row>> = {
  stopped: { ...RESTING, stop_requested: (now) => [{ ...now, wish: "down" }, []] },
  crashed: RESTING,
  errored: RESTING,
  waiting: {
    recovered: (now, event) => {
      if (event.found.kind === "rebooted") return afterReboot(now, event.found.autostart);
      const ms = Math.max(0, (now.nextRestartAt ?? event.at) - event.at);
      return [now, [{ type: "arm_delay", ms }]];
    },
    start_requested: (now) => undelayed(freshStart(now, "started by user")),
    restart_requested: (now, event) => undelayed(freshStart(now, event.reason)),
    stop_requested: (now, event) => [
      {
        ...now,
        state: "stopped",
        wish: "down",
        nextRestartAt: null,
        lastReason: event.reason ?? "stopped by user",
      },
      [{ type: "disarm_delay" }],
    ],
    delay_over: (now) => launch({ ...now, restarts: now.restarts + 1, nextRestartAt: null }),
  },
  starting: {
    ...ALIVE,
    launching: (now, event) => [{ ...now, run: event.run }, []],
    launched: (now, event) => [
      { ...now, state: "running", ready: true, run: event.run, startedAt: event.at },
      [],
    ],
    launch_failed: (now, event) => [
      { ...now, state: "errored", run: null, pid: 0, lastReason: event.reason },
      [],
    ],
  },
  running: ALIVE,
  stopping: {
    pid_known: ALIVE.pid_known!,
    start_requested: (now) => [{ ...now, wish: "up", lastReason: "started by user" }, []],
    restart_requested: (now, event) => [{ ...now, wish: "up", lastReason: event.reason }, []],
    stop_requested: (now, event) => [
      { ...now, wish: "down", lastReason: event.reason ?? "stopped by user" },
      [{ type: "end", timeoutMs: event.timeoutMs }],
    ],
    // A launch that was under way when the stop came: it is ended like any other.
    launched: (now, event) => [{ ...now, run: event.run, startedAt: event.at }, []],
    gone,
    recovered: (now, event, policy) => {
      const { found, at } = event;
      if (found.kind === "rebooted") return afterReboot(now, found.autostart);
      const end: Effect = { type: "end", timeoutMs: policy.stopTimeoutMs };
      if (found.kind === "alive") {
        return [{ ...now, run: found.run, pid: found.pid }, [{ type: "adopt" }, end]];
      }
      const exit = found.kind === "ended" ? found.exit : null;
      return gone(now, { at, exit, left: [] });
    },
  },
};

/** What an event makes of a process: the next snapshot, and what must be done. Pure. */
export function transition(now: Snapshot, event: ProcessEvent, policy: Policy): Step {
  if ("attempt" in event && event.attempt !== now.attempt) return [now, []];
  const cell = TABLE[now.state][event.type] as Cell | undefined;
  return cell === undefined ? [now, []] : cell(now, event, policy);
}

/** A start that a user asked for: earlier failures are forgotten. */
function freshStart(now: Snapshot, reason: string): Step {
  return launch({
    ...now,
    wish: "up",
    streak: 0,
    ranMs: 0,
    restartsAt: [],
    nextRestartAt: null,
    lastReason: reason,
  });
}

function launch(now: Snapshot): Step {
  const next: Snapshot = {
    ...now,
    state: "starting",
    attempt: now.attempt + 1,
    startedAt: null,
    finishedAt: null,
  };
  return [next, [{ type: "launch" }]];
}

function undelayed([now, effects]: Step): Step {
  return [now, [{ type: "disarm_delay" }, ...effects]];
}

/** Everything of the run has ended because it was asked to. */
function gone(
  now: Snapshot,
  event: { at: number; exit: Exit | null; left: readonly number[] },
): Step {
  const over = finished(now, event.exit ?? now.lastExit, event.at);
  if (event.left.length > 0) {
    // Started again it would be there twice.
    const state = now.wish === "up" ? "errored" : "stopped";
    return [{ ...over, state, lastReason: `could not end pid ${event.left.join(", ")}` }, []];
  }
  if (now.wish === "up") return freshStart(over, now.lastReason);
  return [{ ...over, state: "stopped" }, []];
}

/** The same process, under a new daemon. */
function adopted(now: Snapshot, found: { run: Run; pid: number }, at: number): Step {
  const startedAt = now.startedAt ?? at;
  return [
    { ...now, state: "running", ready: true, run: found.run, pid: found.pid, startedAt },
    [{ type: "adopt" }],
  ];
}

function afterReboot(now: Snapshot, autostart: boolean): Step {
  const over: Snapshot = { ...now, run: null, pid: 0, ready: false, nextRestartAt: null };
  if (now.wish === "up" && autostart) return freshStart(over, "started after a reboot");
  if (AT_REST.has(now.state)) return [over, []];
  return [{ ...over, state: "stopped", lastReason: "the machine was rebooted" }, []];
}

function finished(now: Snapshot, exit: Exit | null, at: number): Snapshot {
  return { ...now, run: null, pid: 0, ready: false, lastExit: exit, finishedAt: at };
}

/** The app ended by itself: the policy decides what follows. */
function ended(
  now: Snapshot,
  event: { exit: Exit; ranForMs: number; random: number },
  policy: Policy,
): Step {
  const { exit } = event;
  const at = exit.at.getTime();
  const success = exit.code !== null && exit.signal === null &&
    policy.successExitCodes.includes(exit.code);
  const over: Snapshot = {
    ...finished(now, exit, at),
    ranMs: now.ranMs + event.ranForMs,
    streak: ranStably(policy, event.ranForMs) ? 0 : now.streak,
    lastReason: describeExit(exit),
  };
  const sweep: Effect[] = now.run === null ? [] : [{ type: "sweep", run: now.run }];
  const again = policy.restartPolicy === "always" ||
    (policy.restartPolicy === "on-failure" && !success);
  if (!again) {
    return [{ ...over, state: success ? "stopped" : "crashed" }, sweep];
  }
  const recent = recentRestarts(policy, over.restartsAt, over.ranMs);
  if (!budgetLeft(policy, recent)) {
    const reason = `${over.lastReason}, ${recent.length} restarts used up`;
    return [{ ...over, state: "errored", lastReason: reason }, sweep];
  }
  const ms = restartDelay(policy, over.streak, event.random);
  return [
    {
      ...over,
      state: "waiting",
      streak: over.streak + 1,
      restartsAt: [...recent, over.ranMs],
      nextRestartAt: at + ms,
    },
    [...sweep, { type: "arm_delay", ms }],
  ];
}

/** `exited with code 1`, `ended by SIGSEGV`, `exit code unknown`. */
export function describeExit(exit: Exit): string {
  if (exit.signal !== null) return `ended by ${exit.signal}`;
  return exit.code === null ? "ended, exit code unknown" : `exited with code ${exit.code}`;
}
