/** The verbs that stop, restart, reload and signal processes, and write to them. */

import { asking, bulkResult, type Handlers } from "../../daemon/verb_context.ts";
import { resizeApp, sendText } from "../../manager/app_terminal.ts";
import { parseSignal } from "../../model/signal.ts";
import type { PROCESS_VERBS } from "./rows.ts";

export const PROCESS_HANDLERS: Handlers<keyof typeof PROCESS_VERBS> = {
  async stop({ supervisor }, { target, ...options }) {
    const outcomes = await supervisor.stop(target, options);
    const stopped = outcomes.flatMap(({ process, error }) => error === undefined ? [process] : []);
    const on = new Set(
      supervisor.scheduler.list(stopped).filter(({ enabled }) => enabled).map(({ name }) => name),
    );
    const answer = bulkResult("stopped", outcomes);
    const hinted = answer.results.map((result) =>
      on.has(result.name)
        ? {
          ...result,
          hint: {
            text: "its schedule stays on",
            command: { verb: "cron stop", target: result.name },
          },
        }
        : result
    );
    return { ...answer, results: hinted };
  },
  async restart({ supervisor, askedIn }, { target, wait }) {
    return bulkResult("restarted", await supervisor.restart(target, { wait, askedIn }));
  },
  async reload(context, { target, wait }) {
    const how = { wait, askedIn: context.askedIn, ...asking(context) };
    return bulkResult("reloaded", (await context.supervisor.reload(target, how)).outcomes);
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
};
