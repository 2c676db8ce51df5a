/** How each verb is asked for over REST (spec 4.1, and what is beyond it). Pure. */

import { notFound } from "../model/target.ts";
import type { ClientAction, Payload } from "./transport.ts";

/** One request, below `/api/v1`. */
export interface Question {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Payload;
  /** A JSON object. */
  readonly body?: Payload;
}

type Ask = (payload: Payload) => Question;

const ASKS: Readonly<Record<ClientAction, Ask>> = {
  ping: () => ({ method: "GET", path: "/ping" }),
  list: () => ({ method: "GET", path: "/processes" }),
  status: onProcess("GET", ""),
  start: ({ wait, ...config }) =>
    config.target === undefined
      ? { method: "POST", path: "/processes", query: { wait }, body: config }
      : { method: "POST", path: `/processes/${word(config.target)}/start`, query: { wait } },
  stop: ({ timeout = "own", ...rest }) => onProcess("POST", "/stop")({ ...rest, timeout }),
  restart: onProcess("POST", "/restart"),
  reload: onProcess("POST", "/reload"),
  rolling_reload: tellingProcess("/rolling_reload"),
  reconfigure: ({ target, replace, config, ...query }) => ({
    ...{ method: replace ? "PUT" : "PATCH", path: `/processes/${word(target)}`, query },
    body: config as Payload,
  }),
  scale: tellingProcess("/scale"),
  signal: tellingProcess("/signal"),
  flush: onProcess("POST", "/flush"),
  delete: onProcess("DELETE", ""),
  why: onProcess("GET", "/why"),
  history: onProcess("GET", "/history"),
  wait: onProcess("GET", "/wait"),
  logs: onProcess("GET", "/logs"),
  cron_list: (query) => ({ method: "GET", path: "/cron", query }),
  cron_start: onJob("start"),
  cron_stop: onJob("stop"),
  cron_run: onJob("run"),
  system_metrics: () => ({ method: "GET", path: "/system/metrics" }),
  system_info: () => ({ method: "GET", path: "/system/info" }),
  ports: () => ({ method: "GET", path: "/ports" }),
  save: (query) => ({ method: "POST", path: "/save", query }),
  resurrect: () => ({ method: "POST", path: "/resurrect" }),
};

/** The request for a verb. Throws `process_not_found` for a target that no path can hold. */
export function questionFor(action: ClientAction, payload: Payload): Question {
  return ASKS[action](payload);
}

function onProcess(method: "GET" | "POST" | "DELETE", end: string): Ask {
  return ({ target, ...query }) => ({ method, path: `/processes/${word(target)}${end}`, query });
}

function tellingProcess(end: string): Ask {
  return ({ target, ...body }) => ({
    ...{ method: "POST", path: `/processes/${word(target)}${end}` },
    body,
  });
}

function onJob(verb: string): Ask {
  return ({ name }) => ({ method: "POST", path: `/cron/${word(name)}/${verb}` });
}

/** A target as one word of a path. */
function word(target: unknown): string {
  const text = String(target);
  // They mean this folder and the one above, however they are written, and no process is called so.
  if (text === "." || text === "..") throw notFound(text, []);
  return encodeURIComponent(text);
}
