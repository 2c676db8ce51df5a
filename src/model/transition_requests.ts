/**
 * Requests that replace the run: restart, reload, recycling. They are carried out one after the
 * other, in recorded steps, so that a new daemon continues where the last one was killed. Pure.
 *
 * - `before`    the hook `pre_restart` or `pre_reload` runs
 * - `signal`    the app gets its reload signal
 * - `proof`     the app must survive its reload signal for `min_uptime`, unless it says that it reloads
 * - `reloading` the app has said that it reloads, and must say within `listen_timeout` that it is ready
 * - `successor` a second run starts beside the current one, and takes over once it is up
 *
 * In the last four the process is `running`. Without overlap or a reload signal, a request is
 * carried out once the run is left: the states `stopping` and `starting` do the rest.
 */

import { formatDuration } from "./duration.ts";
import type { HookName } from "./process_config.ts";
import type {
  Effect,
  Input,
  ReplaceRequest,
  RequestFailure,
  RestartHook,
  Snapshot,
} from "./process_state.ts";
import { rowAtStart } from "./restart_budget.ts";
import {
  AT_REST,
  disarmed,
  endFor,
  FORGIVEN,
  freshStart,
  hookEffects,
  leftBy,
  type Policy,
  type Step,
  upAgain,
} from "./transition_steps.ts";

/** The configuration of a generation. */
export type Policies = (generation: number) => Policy;

type InputOf<T extends Input["type"]> = Extract<Input, { type: T }>;

const HOOKS: Readonly<Record<ReplaceRequest["verb"], { before: HookName; after: RestartHook }>> = {
  restart: { before: "preRestart", after: "postRestart" },
  reload: { before: "preReload", after: "postReload" },
};

/** Adds a request; it begins at once if no other is under way. */
export function requested(now: Snapshot, request: ReplaceRequest, policies: Policies): Step {
  const [current] = now.requests;
  if (current === undefined) return begun({ ...now, requests: [request] }, policies);
  if (!overrides(request, current, now)) {
    return [{ ...now, requests: [...now.requests, request] }, []];
  }
  const why = request.verb === "restart"
    ? "it was restarted meanwhile"
    : "a later request changes its configuration";
  const [free, effects] = abandoned(now, why);
  return after(effects, begun({ ...free, requests: [request] }, policies));
}

/** A later configuration, or a user's restart, does not wait until a reload is over. */
function overrides(request: ReplaceRequest, current: ReplaceRequest, now: Snapshot): boolean {
  if (request.recycles !== undefined) return false;
  if (targetOf(request, now) > targetOf(current, now)) return true;
  return request.verb === "restart" && now.requestStep !== "before";
}

function targetOf({ generation }: ReplaceRequest, now: Snapshot): number {
  return generation ?? now.generation;
}

/** Something makes it necessary to replace the run. Ignored unless it still runs when its turn comes. */
export function recycleRequested(
  now: Snapshot,
  { attempt, reason, cause }: InputOf<"recycle_requested">,
  policies: Policies,
): Step {
  const request = { verb: "restart", reason, cause, recycles: attempt } as const;
  const isKnown = now.requests.some(({ recycles }) => recycles === attempt);
  return isKnown || isOutdated(request, now) ? [now, []] : requested(now, request, policies);
}

/** Drops all requests, because of a later one. */
export function abandoned(now: Snapshot, why: string): Step {
  if (now.requests.length === 0) return [now, []];
  const requestFailed: RequestFailure = { code: "wrong_state", why };
  const [left, effects] = withoutSuccessor(now);
  return [{ ...left, requests: [], requestStep: null, requestFailed }, effects];
}

/** Ends the step that is under way, and the second run. */
function withoutSuccessor(now: Snapshot): Step {
  const { requestStep, successor } = now;
  if (requestStep === null) return [now, []];
  const effects: Effect[] = [{ type: "abandon" }];
  if (successor === null) return [now, effects];
  return [
    { ...now, successor: null, leftovers: [...now.leftovers, successor] },
    [...effects, { type: "release", run: successor }],
  ];
}

/** Begins with the first request. */
function begun(now: Snapshot, policies: Policies): Step {
  const [request] = now.requests;
  if (request === undefined) return [now, []];
  if (isOutdated(request, now)) return over(now, null, policies);
  const { hooks } = policies(targetOf(request, now));
  if (hooks[HOOKS[request.verb].before] === undefined) return carriedOut(now, request, policies);
  return [{ ...now, requestStep: "before" }, [hookBefore(request)]];
}

function hookBefore(request: ReplaceRequest): Effect {
  return { type: "before", request, hook: HOOKS[request.verb].before };
}

/** Whether the run that a request was to replace is over. */
function isOutdated({ recycles }: ReplaceRequest, { attempt, state }: Snapshot): boolean {
  return recycles !== undefined &&
    (recycles !== attempt || state !== "starting" && state !== "running");
}

/** The request is over. The next one begins. */
function over(now: Snapshot, requestFailed: RequestFailure | null, policies: Policies): Step {
  const requests = now.requests.slice(1);
  return begun({ ...now, requests, requestStep: null, requestFailed }, policies);
}

function after(effects: readonly Effect[], [next, more]: Step): Step {
  return [next, [...effects, ...more]];
}

/** The hook is over: replaces the run, or asks it to reload itself. */
function carriedOut(now: Snapshot, request: ReplaceRequest, policies: Policies): Step {
  if (isOutdated(request, now)) return over(now, null, policies);
  const policy = policies(targetOf(request, now));
  const { overlap, reloadSignal: signal } = policy;
  const { state } = now;
  const isReload = request.verb === "reload";
  if (isReload && request.unchanged && signal !== undefined) {
    if (state === "running") {
      return [{ ...now, requestStep: "signal" }, [{ type: "reload_signal", request, signal }]];
    }
    if (AT_REST.has(state)) return over(now, NOT_RUNNING, policies);
  }
  if (isReload && overlap && state === "running") {
    return [{ ...now, requestStep: "successor" }, [{ type: "launch_successor", request }]];
  }
  const [next, effects] = anew(now, request, policy);
  return after(effects, over(next, null, policies));
}

const NOT_RUNNING: RequestFailure = { code: "wrong_state", why: "it is not running" };

/** Leaves the run, if any, and starts the generation of the request. */
function anew(before: Snapshot, request: ReplaceRequest, policy: Policy): Step {
  const { verb, reason, recycles, generation } = request;
  const { cause = generation === undefined ? "user" : "release" } = request;
  const now = { ...before, generation: targetOf(request, before) };
  if (recycles !== undefined) return endFor("recycled", cause, now, reason, policy);
  const hookOnceUp = HOOKS[verb].after;
  switch (now.state) {
    case "starting":
    case "running":
      return endFor("asked", cause, { ...now, hookOnceUp }, reason, policy);
    case "stopping":
      return [{ ...upAgain(now, reason), hookOnceUp }, []];
    case "waiting":
      return disarmed(freshStart(now, reason, policy, hookOnceUp));
    default:
      return freshStart(now, reason, policy, hookOnceUp);
  }
}

/** The cells of these inputs: those of another request than the current one are ignored. */
export const REQUEST_CELLS: {
  readonly [T in Input["type"]]?: (
    now: Snapshot,
    input: InputOf<T>,
    policies: Policies,
  ) => Step;
} = {
  replace_requested: (now, { request }, policies) => requested(now, request, policies),
  before_over: (now, { request }, policies) =>
    isAt("before", now, request) ? carriedOut(now, request, policies) : [now, []],
  reload_signalled: (now, { request, isSent }, policies) => {
    if (!isAt("signal", now, request)) return [now, []];
    if (!isSent) return over(now, NOT_RUNNING, policies);
    // It may say that it reloads, and later that it has.
    if (!request.proof && !now.run?.notify) return reloadedItself(now, request, policies);
    return armed({ ...now, requestStep: "proof" }, request, policies);
  },
  proof_over: (now, { request }, policies) => {
    if (isAt("proof", now, request)) return reloadedItself(now, request, policies);
    if (!isAt("reloading", now, request)) return [now, []];
    const limit = formatDuration(policies(targetOf(request, now)).listenTimeoutMs);
    const why = `it has not said READY=1 within ${limit} after RELOADING=1`;
    return over(now, { code: "start_failed", why }, policies);
  },
  reloading: (now, _, policies) =>
    now.requestStep === "proof"
      ? armed({ ...now, requestStep: "reloading" }, now.requests[0]!, policies)
      : [now, []],
  reloaded: (now, _, policies) =>
    now.requestStep === "reloading"
      ? after([{ type: "abandon" }], reloadedItself(now, now.requests[0]!, policies))
      : [now, []],
  successor_launching: (now, { request, run }) =>
    isAt("successor", now, request) ? [{ ...now, successor: run }, []] : [now, []],
  successor_failed: (now, { request, failure }, policies) => {
    if (!isAt("successor", now, request)) return [now, []];
    const [left, effects] = withoutSuccessor(now);
    return after(effects, over(left, failure, policies));
  },
  replaced: (now, input, policies) =>
    isAt("successor", now, input.request) ? replaced(now, input, policies) : [now, []],
};

function isAt(step: Snapshot["requestStep"], now: Snapshot, request: ReplaceRequest): boolean {
  return now.requestStep === step && now.requests[0] === request;
}

/** How long the step takes at most. */
function armed(now: Snapshot, request: ReplaceRequest, policies: Policies): Step {
  const { minUptimeMs, listenTimeoutMs } = policies(targetOf(request, now));
  const ms = now.requestStep === "proof" ? minUptimeMs : listenTimeoutMs;
  return [now, [{ type: "arm_proof", request, ms }]];
}

/** The app has had its reload signal, and has survived it. */
function reloadedItself(now: Snapshot, request: ReplaceRequest, policies: Policies): Step {
  const generation = targetOf(request, now);
  const run = now.run && { ...now.run, generation };
  const hooks = hookEffects(policies(generation), "postReload");
  return after(hooks, over({ ...now, generation, run }, null, policies));
}

function replaced(now: Snapshot, input: InputOf<"replaced">, policies: Policies): Step {
  const { run, pid, at, request } = input;
  const generation = targetOf(request, now);
  const old = { ...now.run!, replaced: true } as const;
  const next: Snapshot = {
    ...now,
    ...FORGIVEN,
    generation,
    attempt: now.attempt + 1,
    run,
    pid,
    startedAt: at,
    watchRestarts: rowAtStart(now.watchRestarts),
    successor: null,
    leftovers: leftBy({ ...now, run: old }),
    launchedBy: "user",
    lastReason: request.reason,
  };
  const effects: Effect[] = [
    { type: "take_over", run },
    ...hookEffects(policies(generation), "postStart"),
    { type: "release", run: old },
  ];
  return after(effects, over(next, null, policies));
}

/** What the end of a run means for the request that is under way. */
export function afterExit([now, effects]: Step, policies: Policies): Step {
  const [request] = now.requests;
  if (request === undefined || now.requestStep === null || now.requestStep === "before") {
    return [now, effects];
  }
  const [left, ending] = withoutSuccessor(now);
  const more = [...effects, ...ending];
  if (now.requestStep !== "successor") {
    const { reloadSignal } = policies(targetOf(request, now));
    const why = `it did not survive ${reloadSignal}: ${now.lastReason}`;
    return after(more, over(left, { code: "start_failed", why }, policies));
  }
  // Its successor was to take over from a run that is no more.
  const [next, launching] = anew(left, request, policies(targetOf(request, now)));
  return after([...more, ...launching], over(next, null, policies));
}

/** A new daemon does the step again that the last one was killed in. */
export function resumed(step: Step, policies: Policies): Step {
  const [now, effects] = step;
  const [request] = now.requests;
  if (request === undefined) return step;
  const { requestStep } = now;
  if (requestStep === null) return after(effects, begun(now, policies));
  if (requestStep === "before") return [now, [...effects, hookBefore(request)]];
  if (now.state !== "running") return afterExit(step, policies);
  if (requestStep === "proof" || requestStep === "reloading") {
    return after(effects, armed(now, request, policies));
  }
  return after(effects, carriedOut(now, request, policies));
}
