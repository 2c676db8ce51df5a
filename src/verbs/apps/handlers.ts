/** The verbs that change apps. */

import { keysIn } from "../../daemon/keys_in.ts";
import {
  asking,
  bulkResult,
  type Handlers,
  results,
  type VerbContext,
} from "../../daemon/verb_context.ts";
import type { RollingOptions } from "../../manager/app_requests.ts";
import type { ChangeResult } from "../../manager/managed_app.ts";
import type { Input, Output } from "../../protocol/wire.ts";
import type { APP_VERBS } from "./rows.ts";

export const APP_HANDLERS: Handlers<keyof typeof APP_VERBS> = {
  async scale(context, { target, instances, wait }) {
    const how = { wait, ...asking(context) };
    return bulkResult("scaled", await context.supervisor.scale(target, instances, how));
  },
  async rolling_reload(context, given) {
    const { supervisor } = context;
    const how = rollingOptions(context, given);
    const { outcomes, rolledBack } = await supervisor.reload(given.target, how);
    const failed = outcomes.some(({ error }) => error !== undefined);
    return {
      status: rolledBack ? "rolled_back" : failed ? "failed" : "reloaded",
      results: results(outcomes),
      rolled_back: rolledBack,
    };
  },
  async reconfigure(context, given) {
    const { target, config, replace, dry_run } = given;
    const keys = await keysIn(config);
    const options = { ...rollingOptions(context, given), keys, replace };
    if (dry_run) {
      const { fields, replaces } = await context.supervisor.plannedChange(target, options);
      const nothing = { results: [], rolled_back: false };
      return { status: "planned", ...nothing, restarted: replaces, changes: [...fields] };
    }
    const done = await context.supervisor.reconfigure(target, options);
    const kept = done.kept.map((process) => ({ process }));
    return {
      status: reconfiguredStatus(done),
      results: results([...done.outcomes, ...kept]),
      rolled_back: done.rolledBack,
      restarted: done.outcomes.length > 0,
      changes: done.fields,
    };
  },
};

function rollingOptions(
  context: VerbContext,
  given: Omit<Input<"rolling_reload">, "target">,
): RollingOptions {
  return {
    askedIn: context.askedIn,
    ...asking(context),
    batchSize: given.batch_size,
    waitReady: given.wait_ready,
    rollbackOnFailure: given.rollback_on_failure,
  };
}

function reconfiguredStatus(
  { fields, rolledBack, outcomes }: ChangeResult,
): Output<"reconfigure">["status"] {
  if (fields.length === 0) return "unchanged";
  if (rolledBack) return "rolled_back";
  if (outcomes.some(({ error }) => error !== undefined)) return "failed";
  return outcomes.length > 0 ? "reloaded" : "changed";
}
