/** `reload`: the reload signal, or stop and start, of several instances one after the other. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Reloads processes. */
export async function reload(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target, wait } = readTarget(payload);
  const { manager: { fleet }, askedIn } = context;
  const options = wait === undefined ? { askedIn } : { askedIn, wait };
  return bulkResult(context, "reloaded", await fleet.reload(target, options));
}
