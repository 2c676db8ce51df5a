/** Every REST route, as data (spec 4.1 first): routing, roles and the OpenAPI document come from here. */

import { ProcsupError } from "../model/errors.ts";
import type { StartResult } from "../protocol/actions.ts";
import { MORE_ROUTES } from "./more_routes.ts";
import { flag, ownOrDuration, WAIT, wholeNumber, words } from "./parameters.ts";
import { onTarget, type Route, type RouteRequest, statusOnly } from "./route.ts";

/** Where the routes live. */
export const BASE = "/api/v1";

const MAX_LINES = 10_000;

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
      timeout: ownOrDuration("grace before SIGKILL; own: the stop_timeout of each process", "5s"),
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

/** The routes of a daemon that has these verbs. */
export function routesFor(actions: ReadonlySet<string>): Route[] {
  return [...SPEC_ROUTES, ...MORE_ROUTES].filter(({ action }) => actions.has(action));
}

/** The body as a configuration: what else the verb takes is no key of one. */
function newConfig(body: RouteRequest["body"]): RouteRequest["body"] {
  for (const key of ["target", "wait"]) {
    if (Object.hasOwn(body, key)) throw new ProcsupError("invalid_config", `Unknown key "${key}"`);
  }
  return body;
}

/** Keeps to ProcessInfo: how it went is its state and `last_reason`. */
function created(data: unknown): unknown {
  const { results: _, ...process } = data as StartResult;
  return process;
}
