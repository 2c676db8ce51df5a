/** Every REST route, as data (spec 4.1 first): routing, roles and the OpenAPI document come from here. */

import { ProcsupError } from "../model/errors.ts";
import type { StartResult } from "../protocol/actions.ts";
import { durationText, flag, type Parameters, wholeNumber, words } from "./parameters.ts";
import { allDone, onTarget, type Route, type RouteRequest, statusOnly } from "./route.ts";

/** Where the routes live. */
export const BASE = "/api/v1";

const MAX_LINES = 10_000;

const WAIT: Parameters = { wait: flag("answer when it is ready, or has failed") };

/** Spec 4.1, row by row. */
const SPEC_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/processes",
    action: "list",
    summary: "All processes",
    answers: "ProcessList",
  },
  {
    method: "GET",
    path: "/processes/{id}",
    action: "status",
    summary: "One process",
    payload: onTarget,
    answers: "ProcessInfo",
  },
  {
    method: "POST",
    path: "/processes",
    action: "start",
    summary: "Make a process and start it",
    parameters: WAIT,
    body: "ProcessConfig",
    payload: ({ body, query }) => ({ ...newConfig(body), ...query }),
    answer: created,
    answers: "ProcessInfo",
    status: 201,
  },
  {
    method: "POST",
    path: "/processes/{id}/stop",
    action: "stop",
    summary: "End a process and all it started",
    parameters: {
      force: flag("SIGKILL at once", false),
      timeout: durationText("grace before SIGKILL", "5s"),
    },
    payload: ({ target, query }) => ({ target, ...query }),
    answer: statusOnly,
    answers: "Stopped",
  },
  {
    method: "POST",
    path: "/processes/{id}/restart",
    action: "restart",
    summary: "Stop and start",
    parameters: WAIT,
    payload: ({ target, query }) => ({ target, ...query }),
    answer: statusOnly,
    answers: "Restarted",
  },
  {
    method: "POST",
    path: "/processes/{id}/reload",
    action: "reload",
    summary: "The reload signal, or stop and start",
    parameters: WAIT,
    payload: ({ target, query }) => ({ target, ...query }),
    answer: statusOnly,
    answers: "Reloaded",
  },
  {
    method: "DELETE",
    path: "/processes/{id}",
    action: "delete",
    summary: "Stop a process and forget it",
    payload: onTarget,
    answer: statusOnly,
    answers: "Deleted",
  },
  {
    method: "GET",
    path: "/processes/{id}/logs",
    action: "logs",
    summary: "The last lines of a log",
    parameters: {
      lines: wholeNumber("how many lines, 0 for all that fits", MAX_LINES, 50),
      stderr: flag("standard error instead of standard output"),
      since: words("lines from then on: a time, or how long ago"),
      until: words("lines up to then"),
      grep: words("lines that match a regular expression"),
      invert: flag("lines that do not match it"),
      timestamps: flag("each line begins with its time"),
    },
    payload: ({ target, query }) => ({ target, ...query }),
    answers: "Logs",
  },
  {
    method: "GET",
    path: "/system/metrics",
    action: "system_metrics",
    summary: "The machine and the daemon",
    answers: "SystemMetrics",
  },
];

/** Beyond the spec. Rows whose verb the daemon does not have are left out. */
const MORE_ROUTES: readonly Route[] = [
  {
    method: "PATCH",
    path: "/processes/{id}",
    action: "rolling_reload",
    summary: "Change keys of the configuration, by a rolling reload",
    parameters: {
      batch_size: words("instances at a time: a number, or a part such as 25%"),
      wait_ready: flag("go on only when a batch is ready", true),
      rollback_on_failure: flag("put the old configuration back when one fails", true),
    },
    body: "ProcessConfigPatch",
    payload: ({ target, query, body }) => ({ target, ...query, config: changedKeys(body) }),
    answer: allDone,
    answers: "RollingResult",
  },
  {
    method: "POST",
    path: "/processes/{id}/start",
    action: "start",
    roleOf: "start_existing",
    summary: "Start a process that is there",
    parameters: WAIT,
    payload: ({ target, query }) => ({ target, ...query }),
    answer: (data) => statusOnly({ status: "started", results: (data as StartResult).results }),
    answers: "Started",
  },
  {
    method: "POST",
    path: "/processes/{id}/rolling_reload",
    action: "rolling_reload",
    roleOf: "reload",
    summary: "Reload the instances a batch at a time",
    body: "RollingReload",
    payload: ({ target, body }) => ({ ...withoutConfig(body), target }),
    answer: allDone,
    answers: "RollingResult",
  },
  {
    method: "POST",
    path: "/processes/{id}/scale",
    action: "scale",
    summary: "Change how many instances there are",
    body: "Scale",
    payload: ({ target, body }) => ({ ...body, target }),
    answer: allDone,
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
  { method: "GET", path: "/cron", action: "cron_list", summary: "All jobs", answers: "CronList" },
  ...["start", "stop", "run"].map((verb): Route => ({
    method: "POST",
    path: `/cron/{id}/${verb}`,
    action: `cron_${verb}`,
    summary: { start: "Enable a job", stop: "Disable a job", run: "Run a job now" }[verb]!,
    payload: ({ target }) => ({ name: target }),
    answers: "Any",
  })),
  { method: "POST", path: "/save", action: "save", summary: "Save the list", answers: "Saved" },
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
    summary: "Read the configuration file again",
    body: "ConfigReload",
    payload: ({ body }) => body,
    answers: "Any",
  },
];

/** The routes of a daemon that has these verbs. */
export function routesFor(actions: ReadonlySet<string>): Route[] {
  return [...SPEC_ROUTES, ...MORE_ROUTES].filter(({ action }) => actions.has(action));
}

/** The body as a configuration: what else the verb takes is no key of one. */
function newConfig(body: RouteRequest["body"]): RouteRequest["body"] {
  for (const key of ["target", "wait"]) {
    if (Object.hasOwn(body, key)) throw invalidConfig(`Unknown key "${key}"`);
  }
  return body;
}

/** `created()` keeps to ProcessInfo: how it went is its state and `last_reason`. */
function created(data: unknown): unknown {
  const { results: _, ...process } = data as StartResult;
  return process;
}

function changedKeys(body: RouteRequest["body"]): RouteRequest["body"] {
  const { name, instances, env } = body;
  if (name !== undefined) throw invalidConfig('Invalid "name": a process cannot be renamed');
  if (instances !== undefined) {
    throw invalidConfig('Invalid "instances": POST …/scale changes how many there are');
  }
  for (const [key, value] of Object.entries(env ?? {})) {
    // What was read from us and is sent back would replace the value by its mask.
    if (value === "***") throw invalidConfig(`Invalid "env.${key}": "***" stands for a value`);
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
