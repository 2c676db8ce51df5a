/** `flush`: empties the logs of processes. */

import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readTarget } from "./payload.ts";

/** Empties logs and removes their archives. The apps go on writing. */
export async function flush(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target } = readTarget(payload);
  return bulkResult(context, "flushed", await context.manager.fleet.flush(target));
}
