/** The verbs that start processes, end them, start them anew or tell them something. */

import { resizeApp, sendText } from "../../manager/app_terminal.ts";
import type { Outcome } from "../../manager/bulk.ts";
import { lastWords } from "../../manager/last_words.ts";
import { ProcsupError } from "../../model/errors.ts";
import { parseSignal } from "../../model/signal.ts";
import type { BULK_VERBS } from "../../protocol/verbs/bulk.ts";
import type { START_VERBS } from "../../protocol/verbs/start.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { Output } from "../../protocol/verbs/types.ts";
import { type ActionContext, bulkResult, type Handlers, results } from "./context.ts";

/** Their implementations. */
export const PROCESS_ACTIONS: Handlers<
  keyof typeof START_VERBS | keyof typeof BULK_VERBS | "scale" | "rolling_reload"
> = {
  async add(context, { config, wait = false }) {
    const outcomes = await context.manager.fleet.add(config, { wait });
    // A new one has used nothing yet: to read that would cost a look at the whole machine.
    const answer = await started(context, outcomes, ({ process }) => process.info());
    const from_shell = context.manager.fleet.takenFromShell(outcomes[0]!.process);
    return { ...answer, ...from_shell.length > 0 && { from_shell } };
  },
  async start(context, { target, wait = false }) {
    const { fleet } = context.manager;
    const outcomes = await fleet.start(target, { wait });
    return await started(context, outcomes, ({ process }) => fleet.info(process));
  },
  async stop(context, { target, ...options }) {
    return bulkResult(context, "stopped", await context.manager.fleet.stop(target, options));
  },
  async restart(context, { target, wait = false }) {
    const { manager: { fleet }, askedIn } = context;
    return bulkResult(context, "restarted", await fleet.restart(target, { wait, askedIn }));
  },
  async reload(context, { target, wait }) {
    const { manager: { fleet }, askedIn } = context;
    const options = wait === undefined ? { askedIn } : { askedIn, wait };
    return bulkResult(context, "reloaded", await fleet.reload(target, options));
  },
  async delete(context, { target }) {
    return bulkResult(context, "deleted", await context.manager.fleet.remove(target));
  },
  async signal(context, { target, signal }) {
    const outcomes = await context.manager.fleet.signal(target, parseSignal(signal));
    return bulkResult(context, "signalled", outcomes);
  },
  async send(context, { target, text }) {
    return bulkResult(context, "sent", await sendText(context.manager.fleet, target, text));
  },
  attach({ manager: { fleet } }, { target, ...size }) {
    const process = fleet.process(target);
    resizeApp(process, size);
    return { name: process.name };
  },
  async flush(context, { target }) {
    return bulkResult(context, "flushed", await context.manager.fleet.flush(target));
  },
  async scale(context, { target, instances }) {
    return bulkResult(context, "scaled", await context.manager.fleet.scale(target, instances));
  },
  async rolling_reload(context, given) {
    const { outcomes, rolledBack } = await context.manager.fleet.rollingReload(given.target, {
      ...(given.batch_size === undefined ? {} : { batchSize: given.batch_size }),
      waitReady: given.wait_ready,
      ...(given.config === undefined ? {} : { patch: given.config }),
      askedIn: context.askedIn,
      lastWords: (process) => lastWords(context.manager.fleet, process),
      rollbackOnFailure: given.rollback_on_failure,
    });
    const failed = outcomes.some(({ error }) => error !== undefined);
    return {
      status: rolledBack ? "rolled_back" : failed ? "failed" : "reloaded",
      results: await results(context, outcomes),
      rolled_back: rolledBack,
    };
  },
};

async function started(
  context: ActionContext,
  outcomes: readonly Outcome[],
  infoOf: (first: Outcome) => Parameters<typeof processJson>[0],
): Promise<Output<"start">> {
  const [first] = outcomes;
  if (first === undefined) {
    throw new ProcsupError("process_not_found", "process not found", {
      hint: "There is no process yet; procsup start <script> makes one",
    });
  }
  return { ...processJson(infoOf(first)), results: await results(context, outcomes) };
}
