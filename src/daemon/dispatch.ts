/** Dispatches verbs to their implementations. */

import { actorOf } from "../auth/gatekeeper.ts";
import { readRequest, VERBS } from "../verbs/mod.ts";
import type { Verb } from "../verbs/verb.ts";
import type { BulkResult, VerbName } from "../protocol/wire.ts";
import { ALERT_HANDLERS } from "../verbs/alerts/handlers.ts";
import { CONFIG_HANDLERS } from "../verbs/config/handlers.ts";
import type { Handlers, VerbContext } from "./verb_context.ts";
import { CRON_HANDLERS } from "../verbs/cron/handlers.ts";
import { DAEMON_HANDLERS } from "../verbs/daemon/handlers.ts";
import { INSPECT_HANDLERS } from "../verbs/inspect/handlers.ts";
import { LOGS_HANDLERS } from "../verbs/logs/handlers.ts";
import { APP_HANDLERS } from "../verbs/apps/handlers.ts";
import { PROCESS_HANDLERS } from "../verbs/processes/handlers.ts";
import { START_HANDLERS } from "../verbs/start/handlers.ts";
import { WEB_HANDLERS } from "../verbs/web/handlers.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { addressed, narrowed, seen } from "./reach.ts";

const HANDLERS: Handlers = {
  ...INSPECT_HANDLERS,
  ...LOGS_HANDLERS,
  ...START_HANDLERS,
  ...PROCESS_HANDLERS,
  ...APP_HANDLERS,
  ...CONFIG_HANDLERS,
  ...ALERT_HANDLERS,
  ...CRON_HANDLERS,
  ...DAEMON_HANDLERS,
  ...WEB_HANDLERS,
};

/**
 * Validates and carries out a verb, as far as its sender may see. Throws `ProcsupError`, such as
 * `unknown_verb` or `bad_request`.
 */
export async function dispatch(
  context: VerbContext,
  verb: string,
  payload: unknown,
): Promise<unknown> {
  const { name, input: given } = readRequest(verb, payload);
  const input = narrowed(context, name, given);
  const noteResult = noteRequest(context, name, input);
  const act = () => HANDLERS[name](context, input as never);
  const { role, waits }: Verb = VERBS[name];
  const takesTurn = role === "read" && !waits;
  const answer = await (takesTurn ? context.limits.turn(context.by, act) : act());
  noteResult(answer);
  return seen(context, name, answer);
}

/**
 * Puts on record who asked for a change: as an event of each app that is addressed. A request without
 * targets is a line in the daemon's log, and the returned function adds the events of the apps that
 * turned out to be concerned.
 */
function noteRequest(
  context: VerbContext,
  verb: VerbName,
  input: unknown,
): (answer: unknown) => void {
  const { by, supervisor, log } = context;
  const { role, isOften }: Verb = VERBS[verb];
  if (by === undefined || role === "read" || role === "open" || isOften) return () => {};
  const actor = actorOf(by);
  const publish = (processes: readonly ManagedProcess[]) => {
    for (const process of processes) {
      supervisor.events.publishOf(process, "asked", { reason: verb, by: actor });
    }
  };
  const apps = addressed(context, verb, input);
  publish(apps);
  if (apps.length > 0) return () => {};
  log.info(`${verb}, asked by ${actor}`);
  return (answer) => {
    const { results = [] } = Object(answer) as Partial<BulkResult>;
    const ids = new Set(results.map(({ id }) => id));
    publish(supervisor.directory.list().filter(({ id }) => ids.has(id.slice(0, 8))));
  };
}
