/** The table of actions: the one place where a verb meets its handler. */

import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ActionContext, ActionHandler } from "./context.ts";
import { cronList, cronRun, cronStart, cronStop } from "./cron.ts";
import { ping, release, shutdown, token } from "./daemon_self.ts";
import { configReload } from "./config_reload.ts";
import { remove } from "./delete.ts";
import { flush } from "./flush.ts";
import { history } from "./history.ts";
import { list, status } from "./list.ts";
import { logs } from "./logs.ts";
import { ports } from "./ports.ts";
import { reconfigure } from "./reconfigure.ts";
import { reload } from "./reload.ts";
import { restart } from "./restart.ts";
import { rollingReload } from "./rolling_reload.ts";
import { scale } from "./scale.ts";
import { signal } from "./signal.ts";
import { start } from "./start.ts";
import { startAll } from "./start_all.ts";
import { resurrect, save } from "./state.ts";
import { stop } from "./stop.ts";
import { systemInfo } from "./system_info.ts";
import { wait } from "./wait.ts";
import {
  systemMetrics,
  tokenCreate,
  tokenList,
  tokenRevoke,
  webLink,
  webStart,
  webStatus,
  webStop,
} from "./web.ts";
import { webhookList, webhookTest } from "./webhook.ts";
import { why } from "./why.ts";

const ACTIONS: Readonly<Record<Action, ActionHandler>> = {
  start,
  start_all: startAll,
  config_reload: configReload,
  stop,
  restart,
  reload,
  rolling_reload: rollingReload,
  reconfigure,
  scale,
  delete: remove,
  signal,
  flush,
  list,
  status,
  why,
  history,
  wait,
  logs,
  cron_list: cronList,
  cron_start: cronStart,
  cron_stop: cronStop,
  cron_run: cronRun,
  save,
  resurrect,
  system_metrics: systemMetrics,
  system_info: systemInfo,
  ports,
  web_start: webStart,
  web_stop: webStop,
  web_status: webStatus,
  web_link: webLink,
  webhook_list: webhookList,
  webhook_test: webhookTest,
  ping,
  token,
  token_create: tokenCreate,
  token_list: tokenList,
  token_revoke: tokenRevoke,
  release,
  shutdown,
};

/** The name of every action. */
export const ACTION_NAMES: ReadonlySet<string> = new Set(Object.keys(ACTIONS));

/** Carries out an action. Throws `ProcsupError`, `unknown_action` among others. */
export async function dispatch(
  context: ActionContext,
  action: string,
  payload: unknown,
): Promise<unknown> {
  if (!Object.hasOwn(ACTIONS, action)) {
    const near = didYouMean(action, Object.keys(ACTIONS));
    throw new ProcsupError(
      "unknown_action",
      `Unknown action ${JSON.stringify(action)}` + (near ? `: did you mean "${near}"?` : ""),
    );
  }
  return await ACTIONS[action as Action](context, payload);
}
