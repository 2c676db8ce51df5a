/** `signal`: sends a signal to the apps themselves. */

import * as z from "zod/mini";
import { parseSignal } from "../../model/signal.ts";
import type { BulkResult } from "../../protocol/actions.ts";
import { type ActionContext, bulkResult } from "./context.ts";
import { readPayload, target } from "./payload.ts";

const signalPayload = z.strictObject({ target, signal: z.union([z.string(), z.int()]) });

/** Signals processes. */
export async function signal(context: ActionContext, payload: unknown): Promise<BulkResult> {
  const given = readPayload(signalPayload, payload);
  const outcomes = await context.manager.fleet.signal(given.target, parseSignal(given.signal));
  return bulkResult(context, "signalled", outcomes);
}
