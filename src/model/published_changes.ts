/** Decides which events an input publishes. */

import type { ChangeType } from "./process_change.ts";
import type { ProcessConfig } from "./process_config.ts";
import type { Input, Snapshot } from "./process_state.ts";
import { isSuccess } from "./transition_steps.ts";

type Policy = Pick<ProcessConfig, "successExitCodes">;

/** The events of a change from one snapshot to another, in order. */
export function publishedChanges(
  before: Snapshot,
  now: Snapshot,
  input: Input,
  policy: Policy,
): readonly ChangeType[] {
  const crash: ChangeType[] = crashedOnTheWay(before, now, input, policy) ? ["crashed"] : [];
  if (input.type === "recovered" && now.run !== null) return [...crash, "adopted"];
  return entered(before, now) ? [...crash, now.state] : crash;
}

/** Whether the process crashed and waits for a restart, without a rest in state `crashed`. */
function crashedOnTheWay(before: Snapshot, now: Snapshot, input: Input, policy: Policy): boolean {
  if (now.state !== "waiting" || now.awaiting !== "delay" || before.state === "waiting") {
    return false;
  }
  const ended = input.type === "exited" || input.type === "recovered";
  return !(ended && now.lastExit !== null && isSuccess(now.lastExit, policy));
}

/** Whether it reached a new state. `running` counts from when the pid is known, shortly after. */
function entered(before: Snapshot, now: Snapshot): boolean {
  const known = (snapshot: Snapshot) => snapshot.state !== "running" || snapshot.pid > 0;
  return known(now) && !(known(before) && before.state === now.state);
}
