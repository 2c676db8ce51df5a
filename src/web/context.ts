/** Types and helpers that the handlers of the web surface share. */

import type { Context, Hono, MiddlewareHandler } from "hono";
import { ProcsupError } from "../model/errors.ts";
import type { Backend } from "./backend.ts";
import { claim } from "./connections.ts";
import type { Gatekeeper } from "../auth/gatekeeper.ts";
import { replyError } from "./reply.ts";
import type { Role } from "../protocol/verbs/verb.ts";
import type { Principal } from "../auth/principal.ts";
import { SECRET_HEADER } from "../protocol/version.ts";
import type { SiteNames } from "./same_site.ts";
import type { Snapshots } from "./snapshots.ts";

export interface WebParts {
  readonly backend: Backend;
  readonly gatekeeper: Gatekeeper;
  readonly snapshots: Snapshots;
  /** Allowed host names. Undefined on the Unix socket, which browsers cannot reach. */
  readonly names?: SiteNames;
  /** Handlers of further paths, such as `/mcp`. */
  readonly mounts?: Readonly<Record<string, Mount>>;
  /** Called with unexpected errors. */
  readonly warn: (message: string) => void;
}

/** Another surface under a path, with the same authentication. */
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

/** The client's address, for counting failed sign-ins. */
export function addressOf(c: WebContext): string {
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
