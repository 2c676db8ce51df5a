/** `scale`: how many instances of a process there are. */

import * as z from "zod/mini";
import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readPayload, target } from "./payload.ts";

const scalePayload = z.strictObject({
  target,
  instances: z.union([z.int(), z.string()]),
});

/** Scales the process of that name; answers how each instance that came or went fared. */
export async function scale(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const { target, instances } = readPayload(scalePayload, payload);
  return bulkResult(context, "scaled", await context.manager.fleet.scale(target, instances));
}
