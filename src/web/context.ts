/** What every handler of the web surface works with. */

import type { Context, Hono } from "hono";
import { ProcsupError } from "../model/errors.ts";
import type { Backend } from "./backend.ts";
import { claim } from "./connections.ts";
import type { Gatekeeper } from "../auth/gatekeeper.ts";
import { replyError } from "./reply.ts";
import type { Role } from "../protocol/verbs/verb.ts";
import type { Principal } from "../auth/principal.ts";
import { SECRET_HEADER } from "../auth/sessions.ts";
import type { SiteNames } from "./same_site.ts";
import type { Snapshots } from "./snapshots.ts";

/** What the web surface is made of. */
export interface WebParts {
  readonly backend: Backend;
  readonly gatekeeper: Gatekeeper;
  readonly snapshots: Snapshots;
  /** The names it may be called by; without them (on the Unix socket) no browser can ask. */
  readonly names?: SiteNames;
  /** More paths below this one, each with its own handler: `/mcp`. */
  readonly mounts?: Readonly<Record<string, Mount>>;
  /** Gets unexpected errors. */
  readonly warn: (message: string) => void;
}

/** Another surface under a path, behind the same door. */
export interface Mount {
  /** The lowest role that may use it. */
  readonly role: Role;
  handle(request: Request, principal: Principal): Response | Promise<Response>;
}

/** What a request brings along when it came over TCP. */
export interface Bindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** A Hono of ours. */
export type WebApp = Hono<{ Bindings: Bindings }>;

/** A request of ours. */
export type WebContext = Context<{ Bindings: Bindings }>;

/** Who sent a request. Throws `unauthorized`. */
export async function principalOf(c: WebContext, gatekeeper: Gatekeeper): Promise<Principal> {
  const principal = await gatekeeper.identify({
    authorization: c.req.header("authorization"),
    cookie: c.req.header("cookie"),
    secret: c.req.header(SECRET_HEADER),
    address: addressOf(c),
  });
  claim(c.env?.incoming?.socket, principal);
  return principal;
}

/** Where a request came from, for counting failures. */
export function addressOf(c: WebContext): string {
  return c.env?.incoming?.socket?.remoteAddress ?? "local";
}

/** Answers 405 with `Allow` for every other method of a path. */
export function onlyFor(app: WebApp, pattern: string, methods: readonly string[]): void {
  const allowed = [...new Set(methods.flatMap((m) => m === "GET" ? ["GET", "HEAD"] : [m]))];
  app.all(pattern, (c) => {
    const response = replyError(
      new ProcsupError("method_not_allowed", `${c.req.method} is not possible here`),
    );
    response.headers.set("allow", allowed.join(", "));
    return response;
  });
}
