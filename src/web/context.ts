/** What the handlers of the web surface share: types, the sender, the methods, the body. */

import type { Context, Hono, MiddlewareHandler } from "hono";
import { ProcsupError } from "../model/errors.ts";
import type { Backend, CachedList } from "./backend.ts";
import { claim } from "./connections.ts";
import { FairTurns } from "../auth/shares.ts";
import { type Gatekeeper, type Principal, unauthorized } from "../auth/gatekeeper.ts";
import { replyError } from "./reply.ts";
import type { Role } from "../verbs/verb.ts";
import { hashOf } from "../protocol/session_signature.ts";
import type { SiteNames } from "./same_site.ts";
import type { TrustedProxies } from "./trusted_proxies.ts";
import { isMap } from "../model/merge_patch.ts";
import { parseJson } from "../verbs/read_input.ts";

export interface WebParts {
  readonly backend: Backend;
  readonly gatekeeper: Gatekeeper;
  /** Undefined on the Unix socket, which builds the list for each request. */
  readonly cachedList?: CachedList;
  /** Allowed host names. Undefined on the Unix socket, which browsers cannot reach. */
  readonly names?: SiteNames;
  readonly proxies?: TrustedProxies;
  /** The path below which a proxy serves it, such as `/procsup`; empty for none. */
  readonly basePath?: string;
  /** Handlers of further paths, such as `/mcp`. */
  readonly mounts?: Readonly<Record<string, Mount>>;
  /** Called with unexpected errors. */
  readonly warn: (message: string) => void;
}

/** Another surface under a path, which takes only POST, with the same authentication. */
export interface Mount {
  /** The lowest role that may use it. */
  readonly role: Role;
  handle(request: Request, principal: Principal): Response | Promise<Response>;
}

/** The connection of a request, as passed by node:http; missing on the Unix socket. */
interface Bindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

export type WebApp = Hono<{ Bindings: Bindings }>;

export type WebContext = Context<{ Bindings: Bindings }>;

/** Identifies the sender of a request. Throws `unauthorized`. */
export async function principalOf(
  c: WebContext,
  { gatekeeper, proxies }: Pick<WebParts, "gatekeeper" | "proxies">,
): Promise<Principal> {
  const principal = await gatekeeper.identify({
    authorization: c.req.header("authorization"),
    address: addressOf(c, proxies),
    request: { method: c.req.method, path: pathOf(c) },
  });
  claim(c.env?.incoming?.socket, principal);
  senders.set(c.req, principal);
  return principal;
}

/** Senders of requests, once they are identified. */
const senders = new WeakMap<object, Principal>();

function pathOf(c: WebContext): string {
  const { pathname, search } = new URL(c.req.url);
  return pathname + search;
}

/** The client's address, for counting failed sign-ins. */
export function addressOf(c: WebContext, proxies: WebParts["proxies"]): string {
  const peer = peerOf(c);
  return proxies?.clientOf(peer, c.req.header()) ?? peer;
}

/** The address of the program that is connected, which may be a proxy. */
export function peerOf(c: WebContext): string {
  return c.env?.incoming?.socket?.remoteAddress ?? "local";
}

/** Hono answers HEAD with the handler of GET and drops its body: end it, or a stream stays open forever. */
export const endHeadBody: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === "HEAD") await c.res.body?.cancel();
};

/** Adds a route whose path accepts only GET. */
export function getOnly(
  app: WebApp,
  path: string,
  answer: (c: WebContext) => Response | Promise<Response>,
): void {
  app.get(path, answer);
  onlyFor(app, path, ["GET"]);
}

/** Answers all other methods of a path with 405 and `Allow`. */
export function onlyFor(app: WebApp, pattern: string, methods: readonly string[]): void {
  const allowed = [...new Set(methods.flatMap((m) => m === "GET" ? ["GET", "HEAD"] : [m]))];
  app.all(pattern, (c) => {
    const response = replyError(
      new ProcsupError(
        "method_not_allowed",
        `${c.req.method} is not allowed here; expected ${allowed.join(", ")}`,
      ),
    );
    response.headers.set("allow", allowed.join(", "));
    return response;
  });
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Before the sender is known, only a sign-in has a body. */
const MAX_UNKNOWN_BODY_BYTES = 4096;
/** Bodies that tokens send at once: a slow one takes its memory for seconds. */
const arriving = new FairTurns({ token: 8, tokens: 32 });

/**
 * The body; `{}` if it is empty and not `wanted`. Throws `not_json` for another content type, since
 * a form of another site could send that; `bad_request` for invalid JSON and for JSON that is not an
 * object.
 */
export async function readBody(c: Context, wanted: boolean): Promise<Record<string, unknown>> {
  const type = c.req.header("content-type");
  if (type !== undefined && !isJson(type)) throw notJson();
  const text = await readText(c);
  if (text === "") {
    if (wanted) throw new ProcsupError("bad_request", "Missing body: expected JSON");
    return {};
  }
  if (type === undefined) throw notJson();
  const value = parseJson(text);
  if (isMap(value)) return value;
  throw new ProcsupError("bad_request", "Invalid body: expected a JSON object");
}

/** A configuration in the body: its keys, or their text in YAML. Throws like `readBody()`. */
export async function readConfig(c: Context): Promise<Record<string, unknown> | string> {
  const isYaml = /^application\/yaml\s*(?:;|$)/i.test(c.req.header("content-type") ?? "");
  return isYaml ? await readText(c) : await readBody(c, true);
}

/**
 * The body as text. Throws `body_too_large` as soon as it exceeds the limit, with or without
 * `Content-Length`, `bad_request` if the client disconnects, and `unauthorized` for another body than
 * the sender's session has signed.
 */
export async function readText(c: Context): Promise<string> {
  try {
    const { account, signedBody } = senders.get(c.req) ?? {};
    if (account === undefined) return await textOf(c, MAX_UNKNOWN_BODY_BYTES);
    const text = await arriving.run(account, () => textOf(c, MAX_BODY_BYTES));
    if (signedBody !== undefined && await hashOf(text) !== signedBody) throw unauthorized();
    return text;
  } catch (cause) {
    if (cause instanceof ProcsupError) throw cause;
    throw new ProcsupError("bad_request", "The body is incomplete", { cause });
  }
}

async function textOf(c: Context, most: number): Promise<string> {
  const length = c.req.header("content-length");
  if (Number(length ?? 0) > most) throw tooLarge(most);
  // The HTTP server enforces `Content-Length`.
  if (length !== undefined || c.req.raw.body === null) return await c.req.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of c.req.raw.body) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge(most);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(most: number): ProcsupError {
  const size = most === MAX_BODY_BYTES ? "1 MiB" : `${most / 1024} KiB`;
  return new ProcsupError("body_too_large", `The body is larger than ${size}`);
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

function notJson(): ProcsupError {
  return new ProcsupError("not_json", "The body is not JSON: send Content-Type: application/json");
}
