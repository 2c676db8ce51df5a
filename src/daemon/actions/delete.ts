/** `delete`: stops processes and forgets them. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Deletes processes; their logs stay. */
export async function remove(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target } = readTarget(payload);
  return bulkResult(context, "deleted", await context.manager.fleet.remove(target));
}
