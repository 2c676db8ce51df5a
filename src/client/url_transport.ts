/** Talks to a daemon over REST, by the URL of its web listener. */

import type { CallOptions } from "../library/options.ts";
import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import { notFound } from "../model/target.ts";
import { notPermitted } from "../platform/users/permissions.ts";
import { errorOf } from "../protocol/envelope.ts";
import { endedBy } from "../protocol/shutdown_notice.ts";
import { REST_BASE } from "../protocol/version.ts";
import type { Output, ProcessResult, VerbName } from "../protocol/wire.ts";
import { REST_ROWS } from "./rest_rows.ts";
import type { Fields, Transport } from "./transport.ts";
import { searchOf } from "./wire_form.ts";

/** A web listener. */
export class UrlTransport implements Transport {
  readonly #base: string;
  readonly #authorization: string;

  /** Throws `bad_request` for an invalid URL or token. */
  constructor(url: string, token: string) {
    this.#base = baseOf(url);
    this.#authorization = bearer(token);
  }

  async call<N extends VerbName>(
    name: N,
    fields: Fields,
    options: CallOptions,
  ): Promise<Output<N>> {
    const { method, path, query, body } = restRequest(name, fields);
    const search = searchOf(query);
    const response = await this.#fetch(search.size === 0 ? path : `${path}?${search}`, {
      method,
      body: JSON.stringify(body),
      signal: options.signal ?? null,
    });
    const data = await this.#json(response, options);
    if (name !== "start") return data as Output<N>;
    const { results } = data as { readonly results: readonly ProcessResult[] };
    const process = await this.call("status", { target: results[0]!.name }, options);
    return { ...process, results } as unknown as Output<N>;
  }

  async stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#fetch(`/${what}?${query}`, {
      method: "GET",
      signal: options.signal ?? null,
    });
    if (response.headers.get("content-type")?.startsWith("application/x-ndjson")) {
      // `fetch` loses its signal once the response object is garbage collected: its body would stay
      // open for ever.
      return endedBy(response.body!, (end) => {
        const over = () => end();
        options.signal?.addEventListener("abort", over);
        return () => options.signal?.removeEventListener("abort", over);
      });
    }
    await response.body?.cancel();
    throw this.#foreign(response);
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#reach(`${this.#base}${path}`, {
      ...init,
      // Following a redirect may change the method and drops the token.
      redirect: "manual",
      headers: {
        authorization: this.#authorization,
        accept: "application/x-ndjson, application/json",
        ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
    if (response.ok) return response;
    throw await this.#failure(response, init);
  }

  async #reach(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (cause) {
      init.signal?.throwIfAborted();
      const forbidden = notPermitted(cause, "talk to the daemon");
      if (forbidden !== undefined) throw forbidden;
      throw new ProcsupError("daemon_unreachable", `Cannot reach "${url}": ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  async #json(response: Response, options: CallOptions): Promise<unknown> {
    const text = await textOf(response, options);
    try {
      return JSON.parse(text);
    } catch {
      throw this.#foreign(response);
    }
  }

  async #failure(response: Response, init: RequestInit): Promise<ProcsupError> {
    const text = await textOf(response, init);
    try {
      const answer = JSON.parse(text);
      if (typeof answer.error === "string" && typeof answer.code === "string") {
        return errorOf(answer);
      }
    } catch {
      // Not an answer of procsup.
    }
    return this.#foreign(response);
  }

  /** The error for an answer of another server, or of a proxy whose daemon is down. */
  #foreign({ status, headers }: Response): ProcsupError {
    const to = headers.get("location");
    const type = headers.get("content-type")?.split(";")[0] ?? "nothing";
    return to === null
      ? new ProcsupError(
        "daemon_unreachable",
        `No daemon answers at "${this.#base}": HTTP ${status} with ${type}`,
      )
      : new ProcsupError("daemon_unreachable", `"${this.#base}" redirects: HTTP ${status}`, {
        hint: `Use the URL that it redirects to: "${to}"`,
      });
  }
}

async function textOf(
  response: Response,
  { signal }: { readonly signal?: AbortSignal | null | undefined },
): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ProcsupError("closed", "The daemon closed the connection before it answered", {
      cause,
    });
  }
}

/** One request, below `/api/v1`. */
interface RestRequest {
  readonly method: string;
  readonly path: string;
  /** Without undefined fields. */
  readonly query: Fields;
  /** A JSON object. */
  readonly body?: Fields;
}

/** The request for a verb. Throws `process_not_found` for a target that a path cannot contain. */
function restRequest(name: VerbName, payload: Fields): RestRequest {
  const row = REST_ROWS[name]?.find(({ fixed = {} }) =>
    Object.entries(fixed).every(([field, value]) => payload[field] === value)
  );
  if (row === undefined) throw new Error(`No route of "${name}"`);
  const { method, path, query: names = [], own = [], fixed = {}, body } = row;
  const [, inPath = ""] = /\{(\w+)\}/.exec(path) ?? [];
  const taken = [...names, ...Object.keys(fixed), inPath];
  const left = pick(payload, (field) => !taken.includes(field));
  return {
    method,
    path: path.replace(`{${inPath}}`, () => word(payload[inPath])),
    query: {
      ...Object.fromEntries(own.map((field) => [field, "own"])),
      ...pick(payload, (field, value) => names.includes(field) && value !== undefined),
    },
    ...(body === undefined ? {} : { body: body === "*" ? left : payload[body] as Fields }),
  };
}

function pick(payload: Fields, isWanted: (field: string, value: unknown) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(payload).filter(([field, value]) => isWanted(field, value)),
  );
}

/** A target as one segment of a path. */
function word(target: unknown): string {
  const text = String(target);
  // URLs resolve these as folders, even encoded. No process has such a name.
  if (text === "." || text === "..") throw notFound(text, []);
  return encodeURIComponent(text);
}

/** The base URL of the REST routes of a web listener. Throws `bad_request` for an invalid URL. */
export function baseOf(url: unknown): string {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed === null || !isHttp) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "url" ${quote(url)}: expected one such as "http://127.0.0.1:9615"`,
    );
  }
  const { origin, pathname, username, password, search, hash } = parsed;
  // Do not quote the URL: it may contain a secret.
  const extra = username || password ? "a user" : search ? "a query" : hash ? "a fragment" : "";
  if (extra !== "") throw new ProcsupError("bad_request", `Invalid "url": it holds ${extra}`);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}${REST_BASE}`;
}

/** The `Authorization` header for a token. Throws `bad_request` without quoting an invalid one. */
function bearer(token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new ProcsupError(
    "bad_request",
    'Invalid "token": expected one word, as "procsup token" prints it',
  );
}
