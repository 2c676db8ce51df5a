/** The REST routes beyond the spec, as data. */

import { ProcsupError } from "../model/errors.ts";
import type { StartResult } from "../protocol/actions.ts";
import type { WebhookTestJson } from "../protocol/webhook_json.ts";
import { durationText, flag, WAIT, words } from "./parameters.ts";
import { onTarget, type Route, type RouteRequest, statusOnly } from "./route.ts";

/** Beyond the spec. Rows whose verb the daemon does not have are left out. */
export const MORE_ROUTES: readonly Route[] = [
  reconfiguration("PATCH", "Change the configuration by a JSON Merge Patch (RFC 7396)"),
  reconfiguration("PUT", "Change all of the configuration"),
  {
    method: "POST",
    path: "/processes/{id}/start",
    action: "start",
    roleOf: "start_existing",
    summary: "Start a process that is there",
    parameters: WAIT,
    payload: ({ target, query }) => ({ target, ...query }),
    answer: (data) => ({ status: "started", results: (data as StartResult).results }),
    answers: "BulkResult",
  },
  {
    method: "POST",
    path: "/processes/{id}/rolling_reload",
    action: "rolling_reload",
    roleOf: "reload",
    summary: "Reload the instances a batch at a time",
    body: "RollingReload",
    payload: ({ target, body }) => ({ ...withoutConfig(body), target }),
    answers: "RollingResult",
  },
  {
    method: "POST",
    path: "/processes/{id}/scale",
    action: "scale",
    summary: "Change how many instances there are",
    body: "Scale",
    payload: ({ target, body }) => ({ ...body, target }),
    answers: "BulkResult",
  },
  {
    method: "POST",
    path: "/processes/{id}/signal",
    action: "signal",
    summary: "Send a signal to the app itself",
    body: "Signal",
    payload: ({ target, body }) => ({ ...body, target }),
    answer: statusOnly,
    answers: "Status",
  },
  {
    method: "POST",
    path: "/processes/{id}/flush",
    action: "flush",
    summary: "Empty the logs",
    payload: onTarget,
    answer: statusOnly,
    answers: "Status",
  },
  {
    method: "GET",
    path: "/processes/{id}/why",
    action: "why",
    summary: "Why a process is in the state it is in",
    payload: onTarget,
    answers: "Why",
  },
  {
    method: "GET",
    path: "/processes/{id}/history",
    action: "history",
    summary: "What the hooks and health checks of a process did last",
    payload: onTarget,
    answers: "History",
  },
  {
    method: "GET",
    path: "/processes/{id}/wait",
    action: "wait",
    summary: "Answer when processes have come to a point in their life",
    parameters: {
      for: words("running, ready (default), stopped or exit: at rest, whatever the reason"),
      timeout: durationText("fail with 504 after that; default: wait for ever"),
    },
    payload: ({ target, query }) => ({ target, ...query }),
    answers: "ProcessList",
  },
  {
    method: "GET",
    path: "/ports",
    action: "ports",
    summary: "Which processes listen on which TCP ports",
    answers: "Ports",
  },
  {
    method: "GET",
    path: "/system/info",
    action: "system_info",
    summary: "Where the daemon keeps its files, and how much room is left there",
    answers: "SystemInfo",
  },
  {
    method: "GET",
    path: "/cron",
    action: "cron_list",
    summary: "All jobs, or those of a target with the moments that come next",
    parameters: { name: words("a target: name, id, ns:…, tag:…") },
    payload: ({ query }) => query,
    answers: "CronList",
  },
  ...["start", "stop", "run"].map((verb): Route => ({
    method: "POST",
    path: `/cron/{id}/${verb}`,
    action: `cron_${verb}`,
    summary: { start: "Enable a job", stop: "Disable a job", run: "Run a job now" }[verb]!,
    payload: ({ target }) => ({ name: target }),
    answers: "Any",
  })),
  {
    method: "GET",
    path: "/webhooks",
    action: "webhook_list",
    summary: "Who is told of trouble, and how that goes",
    answers: "WebhookList",
  },
  {
    method: "POST",
    path: "/webhooks/test",
    action: "webhook_test",
    summary: "Send a test to every webhook, once; `ok` of each tells whether it was taken",
    answers: "WebhookTests",
  },
  {
    method: "POST",
    path: "/webhooks/{name}/test",
    action: "webhook_test",
    summary: "Send a test to one webhook, once; `ok` tells whether it was taken",
    payload: ({ target }) => ({ name: target }),
    answer: (data) => (data as readonly WebhookTestJson[])[0],
    answers: "WebhookTest",
  },
  {
    method: "POST",
    path: "/save",
    action: "save",
    summary: "Save the list",
    parameters: { allow_empty: flag("save even when there is nothing to save") },
    payload: ({ query }) => query,
    answers: "Saved",
  },
  {
    method: "POST",
    path: "/resurrect",
    action: "resurrect",
    summary: "Bring back what was saved",
    answers: "Resurrected",
  },
  {
    method: "POST",
    path: "/config/reload",
    action: "config_reload",
    summary: "Make the processes what a configuration says, or plan it",
    body: "ConfigReload",
    payload: ({ body }) => body,
    answers: "ConfigResult",
  },
];

/** Changes a configuration, and reloads the instances one by one where a changed key asks for it. */
function reconfiguration(method: "PATCH" | "PUT", summary: string): Route {
  const isWhole = method === "PUT";
  return {
    method,
    path: "/processes/{id}",
    action: "reconfigure",
    summary,
    parameters: {
      batch_size: words("instances at a time: a number, or a part such as 25%"),
      wait_ready: flag("go on only when a batch is ready", true),
      rollback_on_failure: flag("put the old configuration back when one fails", true),
    },
    body: "ProcessConfigPatch",
    payload: ({ target, query, body }) => ({
      ...{ target, ...query, replace: isWhole },
      config: isWhole ? body : changedKeys(body),
    }),
    answers: "Reconfigured",
  };
}

function changedKeys(body: RouteRequest["body"]): RouteRequest["body"] {
  const { name, instances } = body;
  if (name !== undefined) throw invalidConfig('Invalid "name": a process cannot be renamed');
  if (instances !== undefined) {
    throw invalidConfig('Invalid "instances": POST …/scale changes how many there are');
  }
  return body;
}

function withoutConfig(body: RouteRequest["body"]): RouteRequest["body"] {
  if (!Object.hasOwn(body, "config")) return body;
  throw new ProcsupError("bad_request", 'Unknown field "config": PATCH changes the configuration');
}

function invalidConfig(message: string): ProcsupError {
  return new ProcsupError("invalid_config", message);
}
