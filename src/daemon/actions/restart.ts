/** `restart`: stop and start. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Restarts processes. */
export async function restart(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target, wait = false } = readTarget(payload);
  return bulkResult(context, "restarted", await context.manager.fleet.restart(target, { wait }));
}
