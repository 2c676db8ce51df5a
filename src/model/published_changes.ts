/** The events of a change from one snapshot of a process to another, and why its run ended. Pure. */

import type { ChangeType, EndCause, Exit } from "./process_info.ts";
import type { Input, Snapshot } from "./process_state.ts";
import { isSuccess, type Policy } from "./transition_steps.ts";

/** The events of a change from one snapshot to another, in order. */
export function publishedChanges(
  before: Snapshot,
  now: Snapshot,
  input: Input,
  policy: Pick<Policy, "successExitCodes">,
): readonly ChangeType[] {
  const crash: ChangeType[] = crashedOnTheWay(before, now, input, policy) ? ["crashed"] : [];
  if (input.type === "recovered" && now.run !== null) return [...crash, "adopted"];
  if (!entered(before, now)) return crash;
  const isRestart = now.state === "running" && now.launchedBy === "automatic";
  return [...crash, isRestart ? "restarted" : now.state];
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
  if (before.endCause !== null) return before.endCause;
  const exit = exitIn(input, now);
  if (isSuccess(exit, policy)) return "exit";
  return exit?.oom ? "oom" : "crash";
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
  const known = (snapshot: Snapshot) => snapshot.state !== "running" || snapshot.pid > 0;
  return known(now) && !(known(before) && before.state === now.state);
}
