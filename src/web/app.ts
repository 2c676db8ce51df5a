/** The web surface as a function from requests to responses, without a socket. */

import { type Context, Hono } from "hono";
import { ProcsupError } from "../model/errors.ts";
import { endHeadBody, type WebApp, type WebParts } from "./context.ts";
import { addDashboard } from "./dashboard_routes.ts";
import { addExtras } from "./stream_routes.ts";
import { isExpected, replyError } from "./reply.ts";
import { addRoutes } from "./rest.ts";

export function webApp(parts: WebParts): WebApp {
  const app: WebApp = new Hono();
  app.onError((error) => {
    if (!isExpected(error)) parts.warn(`Web: ${error.stack ?? error}`);
    return replyError(error);
  });
  app.use(endHeadBody);
  app.use(async (c, next) => {
    parts.names?.check(provenance(c), isPage(c));
    await next();
  });
  addDashboard(app, parts);
  addExtras(app, parts);
  addRoutes(app, parts);
  app.notFound(() => replyError(new ProcsupError("not_found", "No such path")));
  return app;
}

function provenance(c: Context) {
  return {
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    fetchSite: c.req.header("sec-fetch-site"),
  };
}

/** True for pages, to which other sites may link; false for data. */
function isPage(c: Context): boolean {
  return c.req.method === "GET" &&
    !/^\/(?:api\/|ws$|mcp$|metrics$|openapi\.json$)/.test(c.req.path);
}
