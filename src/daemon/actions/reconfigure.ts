/** `reconfigure`: other keys for a process, and a reload only where they ask for it. */

import { reconfigure as change, type Reconfigured } from "../../manager/reconfigure.ts";
import { refuseMasks } from "../../model/masks.ts";
import type { ReconfigureResult } from "../../protocol/wire.ts";
import { lastWords } from "../../manager/last_words.ts";
import { type Handlers, results } from "./context.ts";

/** Changes it, and tells which keys differ and whether anything was replaced. */
export const RECONFIGURE_ACTIONS: Handlers<"reconfigure"> = {
  async reconfigure(context, given) {
    refuseMasks(given.config);
    const done = await change(context.manager.fleet, given.target, {
      keys: given.config,
      replace: given.replace,
      ...(given.batch_size === undefined ? {} : { batchSize: given.batch_size }),
      waitReady: given.wait_ready,
      rollbackOnFailure: given.rollback_on_failure,
      lastWords: (process) => lastWords(context.manager.fleet, process),
    });
    return {
      status: statusOf(done),
      results: await results(context, done.outcomes),
      rolled_back: done.rolledBack,
      restarted: done.restarted,
      changes: done.fields,
    };
  },
};

function statusOf(
  { fields, rolledBack, restarted, outcomes }: Reconfigured,
): ReconfigureResult["status"] {
  if (fields.length === 0) return "unchanged";
  if (rolledBack) return "rolled_back";
  if (outcomes.some(({ error }) => error !== undefined)) return "failed";
  return restarted ? "reloaded" : "changed";
}
