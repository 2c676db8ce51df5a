/** REST: the rows of the route table as handlers. */

import { ProcsupError } from "../model/errors.ts";
import { failureOf } from "../protocol/failed_result.ts";
import type { ProcessJson } from "../protocol/process_json.ts";
import { readBody } from "./body.ts";
import { onlyFor, principalOf, type WebApp, type WebContext, type WebParts } from "./context.ts";
import { allow } from "./gatekeeper.ts";
import { readParameters } from "./parameters.ts";
import { replyJson, replyJsonText } from "./reply.ts";
import type { Route } from "./route.ts";
import { BASE, routesFor } from "./routes.ts";

/** Adds every row. A path that is there for other methods answers 405. */
export function addRoutes(app: WebApp, parts: WebParts): void {
  const routes = routesFor(parts.backend.actions);
  const byPath = Map.groupBy(routes, ({ path }) => path);
  for (const [path, rows] of byPath) {
    const pattern = BASE + path.replace(/\{(id|name)\}/, ":$1");
    for (const row of rows) {
      app.on(row.method, pattern, (c) => serve(c, row, parts));
    }
    onlyFor(app, pattern, rows.map(({ method }) => method));
  }
}

async function serve(c: WebContext, row: Route, parts: WebParts): Promise<Response> {
  allow(await principalOf(c, parts.gatekeeper), row.roleOf ?? row.action);
  if (row.action === "list") return replyJsonText(await parts.snapshots.list());
  const url = new URL(c.req.url);
  const changes = row.method !== "GET";
  const request = {
    target: targetIn(c),
    query: readParameters(row.parameters ?? {}, url.searchParams, changes),
    body: changes ? await readBody(c, row.body !== undefined) : {},
  };
  const data = await parts.backend.dispatch(row.action, row.payload?.(request));
  const failure = failureOf(data);
  if (failure !== undefined) throw failure;
  const answer = row.answer?.(data, request) ?? data;
  if (row.status !== 201) return replyJson(answer);
  const location = `${BASE}/processes/${(answer as ProcessJson).id}`;
  return replyJson(answer, 201, { location });
}

/** The router has decoded it; what it cannot decode it leaves as it is. */
function targetIn(c: WebContext): string {
  try {
    decodeURIComponent(c.req.path);
  } catch {
    throw new ProcsupError("bad_request", "The path is not valid percent-encoding");
  }
  return c.req.param("id") ?? c.req.param("name") ?? "";
}
