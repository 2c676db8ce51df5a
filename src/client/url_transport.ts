/** To a daemon by the URL of its web listener, over REST (spec 4.1). */

import { isErrorCode, messageOf, ProcsupError } from "../model/errors.ts";
import { notPermitted } from "../platform/permissions.ts";
import type { CallOptions, ClientAction, ClientActions, Transport } from "./transport.ts";

/** How a verb is asked for. */
interface Row {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `/api/v1`; `{id}` is the payload's target. */
  readonly path: string;
  /** Where the rest of the payload goes. */
  readonly rest?: "query" | "body";
}

const ROWS: Readonly<Record<ClientAction, Row>> = {
  ping: { method: "GET", path: "/ping" },
  list: { method: "GET", path: "/processes" },
  status: { method: "GET", path: "/processes/{id}" },
  start: { method: "POST", path: "/processes", rest: "body" },
  stop: { method: "POST", path: "/processes/{id}/stop", rest: "query" },
  restart: { method: "POST", path: "/processes/{id}/restart", rest: "query" },
  reload: { method: "POST", path: "/processes/{id}/reload", rest: "query" },
  delete: { method: "DELETE", path: "/processes/{id}" },
  logs: { method: "GET", path: "/processes/{id}/logs", rest: "query" },
  save: { method: "POST", path: "/save" },
  resurrect: { method: "POST", path: "/resurrect" },
};

/** The row of a start: of a process that is there, it has a path of its own. */
const START_EXISTING: Row = { method: "POST", path: "/processes/{id}/start", rest: "query" };

/** A web listener. */
export class UrlTransport implements Transport {
  readonly #base: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#base = `${url.replace(/\/+$/, "")}/api/v1`;
    this.#token = token;
  }

  async call<A extends ClientAction>(
    action: A,
    payload: Record<string, unknown> = {},
    options: CallOptions,
  ): Promise<ClientActions[A]> {
    const existing = action === "start" && payload.target !== undefined;
    const { method, path, rest } = existing ? START_EXISTING : ROWS[action];
    const { target, ...others } = payload;
    const place = path.replace("{id}", encodeURIComponent(String(target)));
    const { wait, ...config } = others;
    const inBody = rest === "body";
    const query = inBody ? onlyGiven({ wait }) : rest === "query" ? onlyGiven(others) : {};
    const response = await this.#fetch(`${place}${queryText(query)}`, {
      method,
      ...(inBody ? { body: JSON.stringify(config) } : {}),
      ...options,
    });
    const data = await jsonOf(response, options);
    return existing ? await this.call("status", { target }, options) as ClientActions[A] : data;
  }

  async stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#fetch(`/${what}?${query}`, { method: "GET", ...options });
    return response.body!;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#reach(`${this.#base}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: "application/x-ndjson, application/json",
        ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
    if (response.ok) return response;
    throw await errorIn(response);
  }

  async #reach(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (init.signal?.aborted) throw init.signal.reason;
      const forbidden = notPermitted(cause, "talk to the daemon");
      if (forbidden !== undefined) throw forbidden;
      throw new ProcsupError("daemon_unreachable", `Cannot reach "${url}": ${messageOf(cause)}`, {
        cause,
      });
    }
  }
}

// deno-lint-ignore no-explicit-any
async function jsonOf(response: Response, { signal }: CallOptions): Promise<any> {
  try {
    return await response.json();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ProcsupError("closed", "The daemon went away before it had answered", { cause });
  }
}

function onlyGiven(values: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([key, value]) => [key, String(value)]));
}

function queryText(values: Record<string, string>): string {
  return Object.keys(values).length === 0 ? "" : `?${new URLSearchParams(values)}`;
}

async function errorIn(response: Response): Promise<ProcsupError> {
  const text = await response.text();
  try {
    const { error, code } = JSON.parse(text);
    return new ProcsupError(isErrorCode(code) ? code : "internal", String(error));
  } catch {
    return new ProcsupError("internal", `HTTP ${response.status} from "${response.url}"`);
  }
}
