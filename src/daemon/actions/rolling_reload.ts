/** `rolling_reload`: the instances of a process, a batch at a time. */

import * as z from "zod/mini";
import type { RollingResultJson } from "../../protocol/actions.ts";
import { lastWords } from "../../manager/last_words.ts";
import { type ActionContext, results } from "./context.ts";
import { readPayload, target } from "./payload.ts";

const rollingPayload = z.strictObject({
  target,
  batch_size: z.optional(z.union([z.int(), z.string()])),
  wait_ready: z.optional(z.boolean()),
  rollback_on_failure: z.optional(z.boolean()),
  config: z.optional(z.record(z.string(), z.unknown())),
});

/** Reloads batch by batch, with another configuration where one is given. */
export async function rollingReload(
  context: ActionContext,
  payload: unknown,
): Promise<RollingResultJson> {
  const given = readPayload(rollingPayload, payload);
  const { outcomes, rolledBack } = await context.manager.fleet.rollingReload(given.target, {
    ...(given.batch_size === undefined ? {} : { batchSize: given.batch_size }),
    ...(given.wait_ready === undefined ? {} : { waitReady: given.wait_ready }),
    ...(given.config === undefined ? {} : { patch: given.config }),
    askedIn: context.askedIn,
    lastWords: (process) => lastWords(context.manager.fleet, process),
    rollbackOnFailure: given.rollback_on_failure ?? false,
  });
  const failed = outcomes.some(({ error }) => error !== undefined);
  return {
    status: rolledBack ? "rolled_back" : failed ? "failed" : "reloaded",
    results: await results(context, outcomes),
    rolled_back: rolledBack,
  };
}
