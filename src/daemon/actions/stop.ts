/** `stop`: ends processes and all they started. */

import * as z from "zod/mini";
import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { duration, readPayload, target } from "./payload.ts";

const stopPayload = z.strictObject({
  target,
  force: z.optional(z.boolean()),
  timeout: z.optional(duration),
  parallel: z.optional(z.boolean()),
  graceful: z.optional(z.boolean()),
});

/** Stops, the last process first. */
export async function stop(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const given = typeof payload === "string" ? { target: payload } : payload;
  const { target, ...options } = readPayload(stopPayload, given);
  return bulkResult(context, "stopped", await context.manager.fleet.stop(target, options));
}
