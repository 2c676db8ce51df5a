/** How verbs are requested over REST. Written by deno task dashboard from src/protocol/verbs: change it there. */

import type { VerbRequests } from "./transport.ts";

/** Verbs with a route. */
export const REST_ROWS: { readonly [verb: string]: VerbRequests } = {
  list: { bare: "", requests: [{ method: "GET", path: "/processes" }] },
  status: { bare: "target", requests: [{ method: "GET", path: "/processes/{id}" }] },
  why: { bare: "target", requests: [{ method: "GET", path: "/processes/{id}/why" }] },
  history: { bare: "target", requests: [{ method: "GET", path: "/processes/{id}/history" }] },
  wait: {
    bare: "target",
    requests: [{ method: "GET", path: "/processes/{id}/wait", query: ["for", "timeout"] }],
  },
  events: {
    bare: "target",
    requests: [{
      method: "GET",
      path: "/events/history",
      query: ["target", "since", "until", "type", "search", "limit", "before"],
    }],
  },
  metrics_history: {
    bare: "target",
    requests: [{
      method: "GET",
      path: "/metrics/history",
      query: ["target", "since", "until", "points"],
    }],
  },
  log_counts: {
    bare: "",
    requests: [{
      method: "GET",
      path: "/logs/counts",
      query: ["targets", "since", "until", "steps", "grep", "invert", "ignore_case", "level"],
    }],
  },
  logs: {
    bare: "target",
    requests: [{
      method: "GET",
      path: "/processes/{id}/logs",
      query: [
        "lines",
        "stderr",
        "since",
        "until",
        "timestamps",
        "grep",
        "invert",
        "ignore_case",
        "level",
      ],
    }],
  },
  add: {
    bare: "",
    requests: [{
      method: "POST",
      path: "/processes",
      query: ["start", "wait"],
      bodyField: "config",
      hasBody: true,
    }],
  },
  start: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/start", query: ["wait"] }],
  },
  stop: {
    bare: "target",
    requests: [{
      method: "POST",
      path: "/processes/{id}/stop",
      query: ["force", "timeout"],
      own: ["timeout"],
    }],
  },
  restart: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/restart", query: ["wait"] }],
  },
  reload: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/reload", query: ["wait"] }],
  },
  delete: { bare: "target", requests: [{ method: "DELETE", path: "/processes/{id}" }] },
  signal: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/signal", hasBody: true }],
  },
  send: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/send", hasBody: true }],
  },
  flush: { bare: "target", requests: [{ method: "POST", path: "/processes/{id}/flush" }] },
  scale: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/scale", query: ["wait"], hasBody: true }],
  },
  rolling_reload: {
    bare: "target",
    requests: [{ method: "POST", path: "/processes/{id}/rolling_reload", hasBody: true }],
  },
  reconfigure: {
    bare: "target",
    requests: [{
      method: "PATCH",
      path: "/processes/{id}",
      query: ["batch_size", "wait_ready", "rollback_on_failure"],
      fixed: { replace: false },
      bodyField: "config",
      hasBody: true,
    }, {
      method: "PUT",
      path: "/processes/{id}",
      query: ["batch_size", "wait_ready", "rollback_on_failure"],
      fixed: { replace: true },
      bodyField: "config",
      hasBody: true,
    }],
  },
  start_all: { bare: "", requests: [{ method: "POST", path: "/config/start", hasBody: true }] },
  config_reload: {
    bare: "config_path",
    requests: [{ method: "POST", path: "/config/reload", hasBody: true }],
  },
  config_delete: {
    bare: "config_path",
    requests: [{ method: "POST", path: "/config/delete", hasBody: true }],
  },
  cron_list: { bare: "name", requests: [{ method: "GET", path: "/cron", query: ["name"] }] },
  cron_start: { bare: "name", requests: [{ method: "POST", path: "/cron/{id}/start" }] },
  cron_stop: { bare: "name", requests: [{ method: "POST", path: "/cron/{id}/stop" }] },
  cron_run: { bare: "name", requests: [{ method: "POST", path: "/cron/{id}/run" }] },
  webhook_list: { bare: "", requests: [{ method: "GET", path: "/webhooks" }] },
  webhook_test: {
    bare: "name",
    requests: [{ method: "POST", path: "/webhooks/test" }, {
      method: "POST",
      path: "/webhooks/{name}/test",
    }],
  },
  webhook_set: {
    bare: "name",
    requests: [{ method: "PATCH", path: "/webhooks/{name}", hasBody: true }],
  },
  webhook_delete: { bare: "name", requests: [{ method: "DELETE", path: "/webhooks/{name}" }] },
  ping: { bare: "", requests: [{ method: "GET", path: "/ping" }] },
  save: { bare: "", requests: [{ method: "POST", path: "/save", query: ["allow_empty"] }] },
  resurrect: { bare: "", requests: [{ method: "POST", path: "/resurrect" }] },
  system_metrics: { bare: "", requests: [{ method: "GET", path: "/system/metrics" }] },
  system_info: { bare: "", requests: [{ method: "GET", path: "/system/info" }] },
  ports: { bare: "", requests: [{ method: "GET", path: "/ports" }] },
  contexts: { bare: "", requests: [{ method: "GET", path: "/contexts" }] },
};
