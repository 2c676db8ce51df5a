/** `reconfigure`: other keys for a process, and a reload only where they ask for it. */

import * as z from "zod/mini";
import { reconfigure as change, type Reconfigured } from "../../manager/reconfigure.ts";
import { refuseMasks } from "../../model/masks.ts";
import type { ReconfigureResult } from "../../protocol/actions.ts";
import { lastWords } from "../../manager/last_words.ts";
import { type ActionContext, results } from "./context.ts";
import { readPayload, target } from "./payload.ts";

const reconfigurePayload = z.strictObject({
  target,
  config: z.record(z.string(), z.unknown()),
  replace: z.optional(z.boolean()),
  batch_size: z.optional(z.union([z.int(), z.string()])),
  wait_ready: z.optional(z.boolean()),
  rollback_on_failure: z.optional(z.boolean()),
});

/** Changes it, and tells which keys differ and whether anything was replaced. */
export async function reconfigure(
  context: ActionContext,
  payload: unknown,
): Promise<ReconfigureResult> {
  const given = readPayload(reconfigurePayload, payload);
  refuseMasks(given.config);
  const done = await change(context.manager.fleet, given.target, {
    keys: given.config,
    replace: given.replace ?? false,
    ...(given.batch_size === undefined ? {} : { batchSize: given.batch_size }),
    ...(given.wait_ready === undefined ? {} : { waitReady: given.wait_ready }),
    rollbackOnFailure: given.rollback_on_failure ?? true,
    lastWords: (process) => lastWords(context.manager.fleet, process),
  });
  return {
    status: statusOf(done),
    results: await results(context, done.outcomes),
    rolled_back: done.rolledBack,
    restarted: done.restarted,
    changes: done.fields,
  };
}

function statusOf(
  { fields, rolledBack, restarted, outcomes }: Reconfigured,
): ReconfigureResult["status"] {
  if (fields.length === 0) return "unchanged";
  if (rolledBack) return "rolled_back";
  if (outcomes.some(({ error }) => error !== undefined)) return "failed";
  return restarted ? "reloaded" : "changed";
}
