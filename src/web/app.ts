/**
 * The web surface as a function from requests to responses, without a socket: the routes of the verb
 * registry, and those of the other files.
 */

import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { ProcsupError, quote } from "../model/errors.ts";
import {
  endHeadBody,
  onlyFor,
  peerOf,
  principalOf,
  readBody,
  readConfig,
  type WebApp,
  type WebContext,
  type WebParts,
} from "./context.ts";
import { addDashboard } from "./dashboard_routes.ts";
import { addExtras } from "./stream_routes.ts";
import { isExpected, replyError, replyJson, replyJsonText } from "./reply.ts";
import { answered, failureOf, readRequestEnvelope } from "../protocol/envelope.ts";
import { readVerb, REST_ROWS, type Route } from "../verbs/mod.ts";
import { readQuery } from "../verbs/read_input.ts";
import { IPC_PATH, OWN_PEER, PEER_HEADER, REST_BASE } from "../protocol/version.ts";
import { allowRole, unauthorized } from "../auth/gatekeeper.ts";

export function webApp(parts: WebParts): WebApp {
  const app: WebApp = new Hono();
  app.onError((error, c) => {
    if (!isExpected(error)) parts.warn(`Web: ${error.stack ?? error}`);
    return replyError(error, c.req.path === IPC_PATH ? { success: false, data: null } : {});
  });
  app.use(endHeadBody);
  // Compresses JSON of a kilobyte or more, but neither streams nor pages.
  app.use(compress({ encoding: "gzip", contentTypeFilter: /^application\/json/ }));
  app.use(async (c, next) => {
    const headers = c.req.header();
    const { origin, "sec-fetch-site": fetchSite } = headers;
    const host = parts.proxies?.hostOf(peerOf(c), headers) ?? headers.host;
    parts.names?.check({ host, origin, fetchSite }, isPage(c));
    await next();
    c.header(PEER_HEADER, OWN_PEER);
  });
  addDashboard(app, parts);
  addExtras(app, parts);
  addRoutes(app, parts);
  addDoor(app, parts);
  app.notFound(() => replyError(new ProcsupError("not_found", "No such path")));
  return app;
}

/** True for pages, to which other sites may link; false for data. */
function isPage(c: Context): boolean {
  return c.req.method === "GET" &&
    !/^\/(?:api\/|ws$|mcp$|metrics$|openapi\.json$)/.test(c.req.path);
}

/** Adds the routes of the verb registry. Other methods of their paths get 405. */
function addRoutes(app: WebApp, parts: WebParts): void {
  for (const route of REST_ROWS) {
    app.on(route.row.method, patternOf(route.row.path), (c) => serve(c, route, parts));
  }
  // After all routes: `/webhooks/{name}` also serves the other methods of `/webhooks/test`.
  for (const path of new Set(REST_ROWS.map(({ row }) => row.path))) {
    const serving = REST_ROWS.filter(({ row }) => coveredBy(row.path).test(path));
    onlyFor(app, patternOf(path), serving.map(({ row }) => row.method));
  }
}

function patternOf(path: string): string {
  return REST_BASE + path.replace(/\{(id|name)\}/, ":$1");
}

/** Matches the paths of the table that a path with a parameter covers, and itself. */
function coveredBy(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/, "[^/]+")}$`);
}

/** Takes the same envelopes as the Unix socket, from programs and from the dashboard. */
function addDoor(app: WebApp, parts: WebParts): void {
  app.post(IPC_PATH, async (c) => {
    const { envelope, status } = answered(await callFrom(c, parts));
    return replyJson(envelope, status);
  });
  onlyFor(app, IPC_PATH, ["POST"]);
}

/** Carries out the verb in an envelope. Only verbs with a route come over the network. */
async function callFrom(c: WebContext, parts: WebParts): Promise<unknown> {
  const isAnonymous = c.req.header("authorization") === undefined;
  const principal = isAnonymous ? undefined : await principalOf(c, parts);
  const { action, payload } = readRequestEnvelope(await readBody(c, true));
  if (isAnonymous && action !== "ping") throw unauthorized();
  const { name, verb } = readVerb(action, payload);
  allowRole(principal, verb.role);
  if (verb.rest === undefined) {
    throw new ProcsupError("forbidden", `"${name}" is only for programs on this machine`, {
      hint: "The Unix socket of the daemon takes it",
    });
  }
  const sender = principal === undefined ? parts.backend : parts.backend.as(principal);
  return await sender.dispatch(action, payload);
}

async function serve(c: WebContext, route: Route, parts: WebParts): Promise<Response> {
  const { name, verb, row } = route;
  const { backend, cachedList, basePath = "" } = parts;
  const principal = verb.role === "open" ? undefined : await principalOf(c, parts);
  // Before the body is read.
  allowRole(principal, verb.role);
  const payload = await payloadOf(c, route);
  if (name === "list" && cachedList !== undefined && principal?.only === undefined) {
    return replyJsonText(await cachedList.json());
  }
  const sender = principal === undefined ? backend : backend.as(principal);
  const data = await sender.dispatch(name, payload);
  const failure = failureOf(data);
  if (failure !== undefined) throw failure;
  const answer = row.answer === undefined ? data : row.answer.of(data as never);
  if (row.status !== 201) return replyJson(answer);
  const { id, name: word } = Object(answer) as { readonly id?: string; readonly name?: string };
  const location = `${basePath}${REST_BASE}${row.path}/${encodeURIComponent(id ?? word ?? "")}`;
  return replyJson(answer, 201, { location });
}

async function payloadOf(c: WebContext, { verb, row }: Route): Promise<Record<string, unknown>> {
  const target = targetIn(c);
  const changes = row.method !== "GET";
  const query = readQuery(verb, row, new URL(c.req.url).searchParams);
  return {
    ...changes && await bodyOf(c, { verb, row }),
    ...query,
    ...row.fixed,
    ...(target === undefined ? {} : { [verb.bare!]: target }),
  };
}

async function bodyOf(
  c: WebContext,
  route: Pick<Route, "verb" | "row">,
): Promise<Record<string, unknown>> {
  const { body: wanted, bodyField } = route.row;
  if (bodyField !== undefined) return { [bodyField]: await readConfig(c) };
  const body = await readBody(c, wanted !== undefined);
  refuseForeignFields(body, route);
  return wanted === undefined ? {} : body;
}

/** Throws `bad_request` for a body field that the path, the query or the route itself sets. */
function refuseForeignFields(body: object, { verb, row }: Pick<Route, "verb" | "row">): void {
  const given = { ...row.fixed, ...(row.path.includes("{") ? { [verb.bare!]: true } : {}) };
  for (const field of Object.keys(body)) {
    const why = row.query?.includes(field)
      ? "it belongs in the query"
      : row.body === undefined
      ? "this route reads no body"
      : Object.hasOwn(given, field)
      ? "it comes from the path"
      : undefined;
    if (why === undefined) continue;
    throw new ProcsupError("bad_request", `Unknown field ${quote(field)}: ${why}`);
  }
}

/** The target in the path. Throws `bad_request` for invalid encoding, which the router ignores. */
function targetIn(c: WebContext): string | undefined {
  try {
    decodeURIComponent(c.req.path);
  } catch {
    throw new ProcsupError("bad_request", "The path is not valid percent-encoding");
  }
  return c.req.param("id") ?? c.req.param("name");
}
