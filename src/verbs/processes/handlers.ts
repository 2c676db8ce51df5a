/** The verbs that stop, restart, reload and signal processes, and write to them. */

import { asking, bulkResult, type Handlers } from "../../daemon/verb_context.ts";
import { resizeApp, sendText } from "../../manager/app_terminal.ts";
import { describeListener } from "../../process/background.ts";
import { parseSignal } from "../../model/signal.ts";
import type { Outcome } from "../../manager/bulk.ts";
import type { Hint } from "../../model/hint.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import type { PROCESS_VERBS } from "./rows.ts";

export const PROCESS_HANDLERS: Handlers<keyof typeof PROCESS_VERBS> = {
  async stop({ supervisor }, { target, ...options }) {
    const outcomes = await supervisor.stop(target, options);
    const stopped = outcomes.flatMap(({ process, error }) => error === undefined ? [process] : []);
    const on = new Set(
      supervisor.scheduler.list(stopped).filter(({ enabled }) => enabled).map(({ name }) => name),
    );
    return withHints(bulkResult("stopped", outcomes), outcomes, (process) => {
      const hint = listening(process);
      if (!on.has(process.name)) return hint;
      const text = [...hint === undefined ? [] : [hint.text], "its schedule stays on"].join("; ");
      return { text, command: { verb: "cron stop", target: process.name } };
    });
  },
  async restart({ supervisor, askedIn }, { target, wait }) {
    return bulkResult("restarted", await supervisor.restart(target, { wait, askedIn }));
  },
  async reload(context, { target, wait }) {
    const how = { wait, askedIn: context.askedIn, ...asking(context) };
    return bulkResult("reloaded", (await context.supervisor.reload(target, how)).outcomes);
  },
  async delete({ supervisor }, { target }) {
    const outcomes = await supervisor.remove(target);
    return withHints(bulkResult("deleted", outcomes), outcomes, listening);
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
};

/** Programs that still listen on a port of the ended process. */
function listening({ journal }: ManagedProcess): Hint | undefined {
  const found = journal.listening.map(describeListener);
  return found.length === 0 ? undefined : { text: found.join("; ") };
}

/** An answer with hints about the processes for which the verb succeeded. */
function withHints<T extends ReturnType<typeof bulkResult>>(
  answer: T,
  outcomes: readonly Outcome[],
  hintOf: (process: ManagedProcess) => Hint | undefined,
): T {
  const hints = new Map(outcomes.map(({ process, error }) => [
    process.name,
    error === undefined ? hintOf(process) : undefined,
  ]));
  const results = answer.results.map((result) => {
    const hint = hints.get(result.name);
    return hint === undefined ? result : { ...result, hint };
  });
  return { ...answer, results };
}
