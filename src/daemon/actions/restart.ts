/** `restart`: stop and start. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Restarts processes. */
export async function restart(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target, wait = false } = readTarget(payload);
  const { manager: { fleet }, askedIn } = context;
  return bulkResult(context, "restarted", await fleet.restart(target, { wait, askedIn }));
}
