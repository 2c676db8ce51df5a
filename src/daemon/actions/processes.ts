/** The verbs that start, stop, restart, change and signal processes. */

import { resizeApp, sendText } from "../../manager/app_terminal.ts";
import type { Outcome } from "../../manager/bulk.ts";
import type { RollingOptions } from "../../manager/app_requests.ts";
import type { ChangeResult } from "../../manager/managed_app.ts";
import { actorOf } from "../../auth/gatekeeper.ts";
import { ProcsupError } from "../../model/errors.ts";
import { refuseMasks } from "../../model/secret_values.ts";
import { parseSignal } from "../../model/signal.ts";
import { takenFromShell } from "../../process/environment.ts";
import type { BULK_VERBS, INSTANCE_VERBS } from "../../protocol/verbs/bulk.ts";
import type { START_VERBS } from "../../protocol/verbs/start.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { Input, Output } from "../../protocol/wire.ts";
import { type VerbContext, bulkResult, type Handlers, results } from "./context.ts";

export const PROCESS_HANDLERS: Handlers<
  keyof typeof START_VERBS | keyof typeof BULK_VERBS | keyof typeof INSTANCE_VERBS
> = {
  async add({ supervisor }, { config, start, wait }) {
    const outcomes = await supervisor.add(config, { start, wait });
    // A new process has no usage yet, and reading it would scan the whole machine.
    const answer = await started(outcomes, ({ process }) => process.info());
    const { inherited } = supervisor.system.world;
    const from_shell = takenFromShell(inherited, outcomes[0]!.process.config);
    return { ...answer, ...from_shell.length > 0 && { from_shell } };
  },
  async start({ supervisor }, { target, wait }) {
    const outcomes = await supervisor.start(target, { wait });
    return await started(outcomes, ({ process }) => supervisor.info(process));
  },
  async stop({ supervisor }, { target, ...options }) {
    const outcomes = await supervisor.stop(target, options);
    const stopped = outcomes.flatMap(({ process, error }) => error === undefined ? [process] : []);
    const on = new Set(
      supervisor.scheduler.list(stopped).filter(({ enabled }) => enabled).map(({ name }) => name),
    );
    const answer = bulkResult("stopped", outcomes);
    const hinted = answer.results.map((result) =>
      on.has(result.name)
        ? { ...result, hint: `its schedule stays on: procsup cron stop ${result.name}` }
        : result
    );
    return { ...answer, results: hinted };
  },
  async restart({ supervisor, askedIn }, { target, wait }) {
    return bulkResult("restarted", await supervisor.restart(target, { wait, askedIn }));
  },
  async reload({ supervisor, askedIn, by }, { target, wait }) {
    const how = { wait, askedIn, ...by && { by: actorOf(by) } };
    return bulkResult("reloaded", (await supervisor.reload(target, how)).outcomes);
  },
  async delete({ supervisor }, { target }) {
    return bulkResult("deleted", await supervisor.remove(target));
  },
  async signal({ supervisor }, { target, signal }) {
    const outcomes = await supervisor.signal(target, parseSignal(signal));
    return bulkResult("signalled", outcomes);
  },
  async send({ supervisor }, { target, text }) {
    return bulkResult("sent", await sendText(supervisor, target, text));
  },
  attach({ supervisor }, { target, ...size }) {
    const process = supervisor.process(target);
    resizeApp(process, size);
    return { name: process.name };
  },
  async flush({ supervisor }, { target }) {
    return bulkResult("flushed", await supervisor.flush(target));
  },
  async scale({ supervisor, by }, { target, instances, wait }) {
    const how = { wait, ...by && { by: actorOf(by) } };
    return bulkResult("scaled", await supervisor.scale(target, instances, how));
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
    const { target, config: keys, replace } = given;
    refuseMasks(keys);
    const options = { ...rollingOptions(context, given), keys, replace };
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
  { askedIn, by }: VerbContext,
  given: Omit<Input<"rolling_reload">, "target">,
): RollingOptions {
  return {
    askedIn,
    ...by && { by: actorOf(by) },
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

function started(
  outcomes: readonly Outcome[],
  infoOf: (first: Outcome) => Parameters<typeof processJson>[0],
): Output<"start"> {
  const [first] = outcomes;
  if (first === undefined) {
    throw new ProcsupError("process_not_found", "process not found", {
      hint: "There is no process yet; procsup start <script> makes one",
    });
  }
  return { ...processJson(infoOf(first)), results: results(outcomes) };
}
