/** `reload`: the reload signal, or stop and start. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Reloads processes. */
export async function reload(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target, wait = false } = readTarget(payload);
  return bulkResult(context, "reloaded", await context.manager.fleet.reload(target, { wait }));
}
