/** Dispatches verbs to their implementations. */

import { readRequest } from "../../protocol/verbs/mod.ts";
import { CONFIG_ACTIONS } from "./config.ts";
import type { ActionContext, Handlers } from "./context.ts";
import { CRON_ACTIONS } from "./cron.ts";
import { DAEMON_ACTIONS } from "./daemon.ts";
import { INSPECT_ACTIONS } from "./inspect.ts";
import { LOGS_ACTIONS } from "./logs.ts";
import { PROCESS_ACTIONS } from "./processes.ts";

const ACTIONS: Handlers = {
  ...INSPECT_ACTIONS,
  ...LOGS_ACTIONS,
  ...PROCESS_ACTIONS,
  ...CONFIG_ACTIONS,
  ...CRON_ACTIONS,
  ...DAEMON_ACTIONS,
};

/** Validates and carries out a verb. Throws `ProcsupError`, such as `unknown_action` or `bad_request`. */
export async function dispatch(
  context: ActionContext,
  action: string,
  payload: unknown,
): Promise<unknown> {
  const { name, input } = readRequest(action, payload);
  return await ACTIONS[name](context, input as never);
}
