/** The events of a change from one snapshot of a process to another, and why its run ended. Pure. */

import type { ChangeType, EndCause, Exit } from "./process_info.ts";
import type { Input, Snapshot } from "./process_state.ts";
import { isSuccess, isUp, type Policy } from "./transition_steps.ts";

/** The events of a change from one snapshot to another, in order. */
export function publishedChanges(
  before: Snapshot,
  now: Snapshot,
  input: Input,
  policy: Pick<Policy, "successExitCodes">,
): readonly ChangeType[] {
  const crash: ChangeType[] = crashedOnTheWay(before, now, input, policy) ? ["crashed"] : [];
  if (input.type === "recovered" && now.run !== null) return [...crash, "adopted"];
  const earlier: ChangeType[] = restartedBefore(before, now, input)
    ? ["restarted", ...crash]
    : crash;
  if (!entered(before, now)) return earlier;
  const isRestart = now.state === "running" && now.launchedBy === "automatic";
  return [...earlier, isRestart ? "restarted" : now.state];
}

/** Why the last run ended, if an event of the change is the first after its end. */
export function endCauseOf(
  type: ChangeType,
  before: Snapshot,
  now: Snapshot,
  input: Input,
  policy: Pick<Policy, "successExitCodes">,
): EndCause | undefined {
  if (type === "running" || type === "restarted") return before.endCause ?? undefined;
  const isEnd = type === "crashed" || type === "errored" || type === "stopped";
  if (!isEnd || before.run === null || now.run !== null) return undefined;
  // Unless it was being stopped, that is the cause of the end before.
  if (before.state === "stopping" && before.endCause !== null) return before.endCause;
  const exit = exitIn(input, now);
  if (isSuccess(exit, policy)) return "exit";
  return exit?.oom ? "oom" : "crash";
}

/**
 * Whether a change ends an automatic restart that has no event yet: its run was launched, but is over
 * or stopped before it was up with a known pid. Not if the machine refused it: then it is tried again.
 */
function restartedBefore(before: Snapshot, now: Snapshot, { type }: Input): boolean {
  const isOpen = isComingUp(now) && now.attempt === before.attempt || now.awaiting === "machine";
  if (before.launchedBy !== "automatic" || type === "recovered" || isOpen || isUp(now)) {
    return false;
  }
  return now.restarts > before.restarts || isComingUp(before) && before.startedAt !== null;
}

function isComingUp(snapshot: Snapshot): boolean {
  return snapshot.state === "starting" || snapshot.state === "running" && !isUp(snapshot);
}

/** Whether the process crashed and waits for a restart, without a rest in state `crashed`. */
function crashedOnTheWay(
  before: Snapshot,
  now: Snapshot,
  input: Input,
  policy: Pick<Policy, "successExitCodes">,
): boolean {
  if (now.state !== "waiting" || now.awaiting !== "delay" || before.state === "waiting") {
    return false;
  }
  return !isSuccess(exitIn(input, now), policy);
}

/** How a run ended by itself, if an input tells that; null otherwise. */
function exitIn({ type }: Input, now: Snapshot): Exit | null {
  return type === "exited" || type === "recovered" ? now.lastExit : null;
}

/** Whether it reached a new state. `running` counts from when the pid is known, shortly after. */
function entered(before: Snapshot, now: Snapshot): boolean {
  const known = (snapshot: Snapshot) => snapshot.state !== "running" || isUp(snapshot);
  return known(now) && !(known(before) && before.state === now.state);
}
