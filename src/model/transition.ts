/**
 * The life of one process, as a table.
 *
 * `desired`, what the user wants, is separate from `state`, and only a user changes it. A later
 * request overrides an earlier one, so a stop beats a pending restart without a flag. Every input
 * may come in every state; without a cell in the table it does nothing. Anything slow (a hook, an
 * exit, a timer) is an effect and comes back as another input. Inputs carry the number of their
 * attempt; those of an earlier attempt are ignored.
 *
 * - `starting`  being launched, or launched and not ready yet
 * - `running`   launched, and ready if readiness is configured
 * - `stopping`  being stopped; `desired` decides what follows
 * - `stopped`   stopped by a user, or exited with success
 * - `crashed`   ended by itself, and the policy does not restart it
 * - `errored`   could not be started, or used up its restarts
 * - `waiting`   should run, but a restart is due later, or a dependency or the machine is not ready,
 *               or nobody has connected to it yet
 */

import type { ProcessState } from "./process_info.ts";
import type { HookName } from "./process_config.ts";
import type {
  Effect,
  Input,
  PendingRequest,
  ReplaceRequest,
  Run,
  Snapshot,
} from "./process_state.ts";
import { longestDelay, withRestart } from "./restart_budget.ts";
import {
  abandoned,
  afterExit,
  type Policies,
  recycleRequested,
  REQUEST_CELLS,
  resumed,
} from "./transition_requests.ts";
import {
  AT_REST,
  connected,
  counted,
  disarmed,
  endFor,
  exited,
  freshStart,
  hookEffects,
  isUp,
  launch,
  leftBy,
  orphanCleanup,
  type Policy,
  refused,
  running,
  startDesired,
  type Step,
  stopDesired,
  terminate,
  terminated,
  upAgain,
  wantsReadiness,
} from "./transition_steps.ts";

type Cell<E extends Input = Input> = (now: Snapshot, input: E, policy: Policy) => Step;
type InputOf<T extends Input["type"]> = Extract<Input, { type: T }>;
type RequestCell = (now: Snapshot, input: Input, policies: Policies) => Step;
type Row = { readonly [T in Input["type"]]?: Cell<InputOf<T>> };

const fileChanged: Cell<InputOf<"file_changed">> = (now, input) => [
  input.isOver
    ? { ...now, watchedUntil: input.at }
    : { ...now, watchRestarts: withRestart(now.watchRestarts, input) },
  [],
];

const RESTING: Row = {
  file_changed: fileChanged,
  recovered: (now, input, policy) =>
    input.found.kind === "rebooted" ? afterReboot(now, input.found.autostart, policy) : [now, []],
  start_requested: (now, input, policy) => startDesired(now, startReason(input), policy),
  stop_requested: (now, input) => [{ ...stopDesired(now, input), state: "stopped" }, []],
};

const ALIVE: Row = {
  recovered: (now, input, policy) => {
    const { found, at } = input;
    if (found.kind === "rebooted") return afterReboot(now, found.autostart, policy);
    if (found.kind === "alive") return adopted(now, found, at, policy);
    if (found.kind === "no_run") return launch({ ...now, run: null, pid: 0 });
    const ranForMs = Math.max(0, found.exit.at.getTime() - startOf(now, found, at));
    return exited(now, { ...found, ranForMs }, policy);
  },
  pid_known: (now, input) => [{ ...now, pid: input.pid }, []],
  stop_requested: (now, input) => [
    { ...stopDesired(now, input), state: "stopping", stopTimeoutMs: input.timeoutMs },
    [{ type: "terminate", timeoutMs: input.timeoutMs }],
  ],
  file_changed: fileChanged,
  exited,
};

const TABLE: Readonly<Record<ProcessState, Row>> = {
  stopped: {
    ...RESTING,
    stop_requested: (now) => [now.desired === "down" ? now : { ...now, desired: "down" }, []],
  },
  crashed: RESTING,
  errored: RESTING,
  waiting: {
    file_changed: fileChanged,
    recovered: (now, input, policy) => {
      if (input.found.kind === "rebooted") return afterReboot(now, input.found.autostart, policy);
      if (now.awaiting === "dependencies") return [now, [{ type: "await_dependencies" }]];
      if (now.awaiting === "connection") return [now, [{ type: "await_connection" }]];
      const ms = Math.max(0, (now.nextRestartAt ?? input.at) - input.at);
      // The clock may have been set back.
      return [now, [{ type: "arm_delay", ms: Math.min(ms, longestDelay(policy)) }]];
    },
    start_requested: (now, input, policy) =>
      now.awaiting === "connection"
        ? [now, []]
        : disarmed(freshStart(now, startReason(input), policy)),
    connected: (now, input, policy) =>
      now.awaiting === "connection" ? connected(now, input.address, policy) : [now, []],
    listen_failed: (now, input) =>
      now.awaiting === "connection"
        ? [{ ...now, state: "errored", awaiting: null, lastReason: input.reason }, []]
        : [now, []],
    stop_requested: (now, input) => [
      { ...stopDesired(now, input), state: "stopped", nextRestartAt: null, awaiting: null },
      [{ type: "disarm" }],
    ],
    delay_over: (now) => {
      if (now.awaiting !== "delay" && now.awaiting !== "machine") return [now, []];
      const [next, effects] = launch(now);
      // After a refused launch keep startedAt: an attempt that was counted must not count twice.
      return [now.awaiting === "machine" ? { ...next, startedAt: now.startedAt } : next, effects];
    },
    dependencies_met: (now) =>
      now.awaiting === "dependencies"
        ? launch({ ...now, lastReason: "dependencies ready" })
        : [now, []],
    dependency_failed: (now, input) =>
      now.awaiting === "dependencies"
        ? [{ ...now, state: "errored", awaiting: null, lastReason: input.reason }, []]
        : [now, []],
  },
  starting: {
    ...ALIVE,
    launching: (now, input) => [{ ...now, run: input.run }, []],
    launched: (now, input, policy) => {
      const up: Snapshot = { ...counted(now), run: input.run, startedAt: input.at };
      return wantsReadiness(policy) ? [up, []] : running(up, policy);
    },
    launch_failed: (now, { reason, lack }, policy) =>
      lack === undefined
        ? [{ ...now, state: "errored", run: null, pid: 0, lastReason: reason }, []]
        : refused(now, { reason, ...lack }, policy),
    became_ready: (now, _, policy) => running(now, policy),
    ready_timed_out: (now, input, policy) => endFor("failed", "unready", now, input.reason, policy),
  },
  running: {
    ...ALIVE,
    idle: (now, input, policy) =>
      now.requests.length > 0 ? [now, []] : endFor("idle", "idle", now, input.reason, policy),
    hung: (now, input, policy) => endFor("failed", "watchdog", now, input.reason, policy),
  },
  stopping: {
    pid_known: ALIVE.pid_known!,
    start_requested: (now, input) => [upAgain(now, startReason(input)), []],
    stop_requested: (now, input, policy) => [
      {
        ...stopDesired(now, input),
        // A later stop may hurry an earlier one, but not delay it.
        stopTimeoutMs: Math.min(input.timeoutMs, now.stopTimeoutMs ?? policy.stopTimeoutMs),
      },
      [{ type: "terminate", timeoutMs: input.timeoutMs }],
    ],
    // The stop came during the launch.
    launched: (now, input) => [{ ...counted(now), run: input.run, startedAt: input.at }, []],
    signalled: (now, input) => [{ ...now, signalledAt: input.at }, []],
    terminated,
    recovered: (now, input, policy) => {
      const { found, at } = input;
      if (found.kind === "rebooted") return afterReboot(now, found.autostart, policy);
      if (found.kind === "alive") {
        const startedAt = startOf(now, found, at);
        const up = { ...counted(now), run: found.run, pid: found.pid, startedAt };
        return [up, [{ type: "adopt" }, restOfStop(now, at - startedAt, policy)]];
      }
      const exit = found.kind === "ended" ? found.exit : null;
      const over = { at, exit, left: [], ranForMs: 0, random: 0 };
      const was = exit === null ? now : counted(now);
      return terminated({ ...was, leftovers: leftBy(now) }, over, policy, orphanCleanup(now));
    },
  },
};

/** The rest of a stop that an earlier daemon began, when the run has this age. */
function restOfStop(now: Snapshot, ageMs: number, policy: Policy): Effect {
  const timeoutMs = now.stopTimeoutMs ?? policy.stopTimeoutMs;
  if (now.signalledAt === null) return terminate(now, timeoutMs);
  // By the age of the run: the clock may have been set since.
  const waitedMs = Math.max(0, ageMs - (now.signalledAt - (now.startedAt ?? now.signalledAt)));
  return { type: "terminate", timeoutMs: Math.max(0, timeoutMs - waitedMs), isSignalled: true };
}

function startReason({ reason = "started by user" }: InputOf<"start_requested">): string {
  return reason;
}

/** Applies an input to a process. Returns the next snapshot and the effects to perform. Pure. */
export function transition(before: Snapshot, input: Input, policies: Policies): Step {
  const now = withPending(before, pendingAfter(before, input));
  if (input.type === "hook_begun") return [withoutHook(now, input.hook), []];
  if (input.type === "leaving") {
    return [now.leaving === input.leaving ? now : { ...now, leaving: input.leaving }, []];
  }
  if ("attempt" in input && input.attempt !== now.attempt) return [now, []];
  const [stepped, effects] = stepOf(now, input, policies);
  // A new run has its logs as they are.
  const isNew = stepped.run !== null && stepped.run.runId !== now.run?.runId;
  const next = isNew && stepped.logTrouble !== null ? { ...stepped, logTrouble: null } : stepped;
  // Those that a new daemon runs are among the effects.
  const due = input.type === "recovered" ? [] : now.dueHooks;
  return [withDue(reached(now, next), [...due, ...hooksIn(effects)]), effects];
}

function stepOf(now: Snapshot, input: Input, policies: Policies): Step {
  const policy = policies(now.generation);
  switch (input.type) {
    case "generation":
      return [
        input.generation === now.generation ? now : { ...now, generation: input.generation },
        [],
      ];
    case "released":
      return released(now, input, policy);
    case "log_trouble": {
      const { trouble } = input;
      if (now.logTrouble === trouble) return [now, []];
      const truncatesLog = now.truncatesLog || trouble === "truncated";
      return [{ ...now, logTrouble: trouble, truncatesLog }, []];
    }
    case "other_signalled":
      return [otherSignalled(now, input), []];
    case "recycle_requested":
      return recycleRequested(now, input, policies);
    case "recovered":
      return recovered(now, input, policies);
    case "exited":
      return afterExit(byState(now, input, policy), policies);
    case "hung":
    case "stop_requested": {
      const isHung = input.type === "hung";
      if (isHung && now.state !== "running") return [now, []];
      const [free, effects] = abandoned(now, isHung ? input.reason : "it was stopped meanwhile");
      const [next, more] = byState(free, input, policy);
      return [next, [...effects, ...more]];
    }
    default: {
      const cell = REQUEST_CELLS[input.type] as RequestCell | undefined;
      return cell === undefined ? byState(now, input, policy) : cell(now, input, policies);
    }
  }
}

function byState(now: Snapshot, input: Input, policy: Policy): Step {
  const cell = TABLE[now.state][input.type] as Cell | undefined;
  return cell === undefined ? [now, []] : cell(now, input, policy);
}

/**
 * A new daemon continues with the current run and ends what is left of all others. It goes on with
 * the request that was under way, which a reboot has made superfluous.
 */
function recovered(before: Snapshot, input: InputOf<"recovered">, policies: Policies): Step {
  const isRebooted = input.found.kind === "rebooted";
  const { successor, leftovers } = before;
  const left = successor === null
    ? before
    : { ...before, successor: null, leftovers: [...leftovers, successor] };
  const now = isRebooted ? withoutRequests(left) : left;
  const [next, effects] = byState(now, input, policies(now.generation));
  const all: Effect[] = [
    ...now.leftovers.map((run) => ({ type: "release", run }) as const),
    ...effects,
    ...missedHooks(now, input).map((hook) => ({ type: "hook", hook }) as const),
  ];
  return isRebooted ? [next, all] : resumed([next, all], policies);
}

/** The configuration that was to be launched stays. */
function withoutRequests(now: Snapshot): Snapshot {
  const generation = now.requests.reduce(
    (last, { generation = last }) => generation,
    now.generation,
  );
  return { ...now, generation, requests: [], requestStep: null };
}

function otherSignalled(now: Snapshot, { run: { runId } }: InputOf<"other_signalled">): Snapshot {
  const leftovers = now.leftovers.map((run) =>
    run.runId === runId ? { ...run, isSignalled: true as const } : run
  );
  return { ...now, leftovers };
}

/** A change of the configuration that was pending is made, or the end of the last run is an event. */
function reached(before: Snapshot, now: Snapshot): Snapshot {
  const isMade = now.generation !== before.generation && now.pending?.verb === "reload";
  const isTold = now.endCause !== null && (AT_REST.has(now.state) || isUp(now));
  if (!isMade && !isTold) return now;
  return { ...now, ...isMade && { pending: null }, ...isTold && { endCause: null } };
}

function withDue(now: Snapshot, dueHooks: readonly HookName[]): Snapshot {
  // Keep the same object if nothing changed, so that it is not recorded again.
  const same = dueHooks.length === now.dueHooks.length &&
    dueHooks.every((hook, index) => hook === now.dueHooks[index]);
  return same ? now : { ...now, dueHooks };
}

function hooksIn(effects: readonly Effect[]): HookName[] {
  return effects.flatMap((effect) => effect.type === "hook" ? [effect.hook] : []);
}

function withoutHook(now: Snapshot, hook: HookName): Snapshot {
  const at = now.dueHooks.indexOf(hook);
  return at < 0 ? now : { ...now, dueHooks: now.dueHooks.toSpliced(at, 1) };
}

/** Hooks that the earlier daemon did not run, if they still make sense. */
function missedHooks({ dueHooks }: Snapshot, { found }: InputOf<"recovered">): HookName[] {
  if (found.kind === "rebooted") return [];
  const needsRun = (hook: HookName) => hook === "postStart" || hook === "postRestart";
  return dueHooks.filter((hook) => found.kind === "alive" || !needsRun(hook));
}

function pendingAfter({ pending }: Snapshot, input: Input): PendingRequest | null {
  switch (input.type) {
    case "pending":
      return input.request;
    case "start_requested":
    case "stop_requested":
      return null;
    case "replace_requested":
      return isLeftPending(pending, input.request) ? pending : null;
    default:
      return pending;
  }
}

/** A watch or a schedule also restarts, which cancels neither a stop nor a later configuration. */
function isLeftPending(pending: PendingRequest | null, request: ReplaceRequest): boolean {
  if (pending?.verb !== "reload") return pending?.verb === "stop";
  return pending.config !== undefined && request.generation !== undefined;
}

function withPending(now: Snapshot, pending: PendingRequest | null): Snapshot {
  return now.pending === pending ? now : { ...now, pending };
}

/** The same in every state. */
function released(now: Snapshot, { run: { runId } }: InputOf<"released">, policy: Policy): Step {
  const run = now.leftovers.find((run) => run.runId === runId);
  if (run === undefined) return [now, []];
  const leftovers = now.leftovers.filter((other) => other !== run);
  return [{ ...now, leftovers }, run.replaced ? hookEffects(policy, "postStop", "postReload") : []];
}

/** Smaller differences are inaccuracies of the kernel's age of a process. */
const CLOCK_SET_MS = 2000;

/**
 * Start time of the run on the current clock, which may have been set since. `ageMs` is the age of
 * the run on the kernel's own clock, if known.
 */
function startOf(
  now: Snapshot,
  { ageMs }: { ageMs?: number | undefined },
  at: number,
): number {
  const startedAt = now.startedAt ?? at;
  const isSet = ageMs !== undefined && Math.abs(at - startedAt - ageMs) > CLOCK_SET_MS;
  return isSet ? at - ageMs : startedAt;
}

/** Whether the process is started after a reboot. */
function startsAgain({ desired, leaving, pending }: Snapshot): boolean {
  if (leaving || pending?.verb === "stop") return false;
  return desired === "up" || pending?.verb === "start";
}

/** Adopts the running process. */
function adopted(
  now: Snapshot,
  found: { run: Run; pid: number; ageMs?: number | undefined },
  at: number,
  policy: Policy,
): Step {
  const startedAt = startOf(now, found, at);
  const up = { ...counted(now), run: found.run, pid: found.pid, startedAt };
  if (now.state === "running") return [{ ...up, ready: true }, [{ type: "adopt" }]];
  if (wantsReadiness(policy)) return [{ ...up, ready: false }, [{ type: "adopt" }]];
  const [next, hooks] = running(up, policy);
  return [next, [{ type: "adopt" }, ...hooks]];
}

/** After a reboot: starts again what should run. */
export function afterReboot(now: Snapshot, autostart: boolean, policy: Policy): Step {
  const over: Snapshot = {
    ...now,
    run: null,
    pid: 0,
    ready: false,
    nextRestartAt: null,
    awaiting: null,
    stopTimeoutMs: null,
    signalledAt: null,
    stopCause: null,
    pending: outlivesBoot(now.pending) ? now.pending : null,
    // The reload that replaced them is long over.
    leftovers: now.leftovers.map(({ replaced: _, ...run }) => run),
  };
  if (autostart && startsAgain(now)) return startDesired(over, "started after a reboot", policy);
  if (AT_REST.has(now.state)) return [over, []];
  return [{ ...over, state: "stopped", lastReason: "the machine was rebooted" }, []];
}

/** Whether a request is still carried out after a reboot. Every start makes the others. */
function outlivesBoot(request: PendingRequest | null): boolean {
  return request?.verb === "stop" || request?.verb === "reload" && request.config !== undefined;
}

/** The hook that an effect runs first, and waits for. */
export function hookWithin(effect: Effect): HookName | undefined {
  switch (effect.type) {
    case "before":
      return effect.hook;
    case "launch":
    case "launch_successor":
      return "preStart";
    case "terminate":
      return effect.isSignalled ? undefined : "preStop";
    case "release":
      return effect.run.replaced && !effect.run.isSignalled ? "preStop" : undefined;
    default:
      return undefined;
  }
}
