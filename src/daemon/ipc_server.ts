/** The daemon's HTTP face on its Unix socket: one envelope in, one out, and two streams. */

import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_change.ts";
import { failure, success } from "../protocol/envelope.ts";
import { changeJson } from "../protocol/change_json.ts";
import { OWN_PEER, PEER_HEADER } from "../protocol/peer.ts";
import { parseJson } from "../protocol/json_text.ts";
import type { ActionContext } from "./actions/context.ts";
import { streamLogs } from "./actions/logs.ts";
import { dispatch } from "./actions/mod.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** The routes of the Unix socket. Tested by `app.request()`, without a socket. */
export function ipcApp(context: ActionContext): Hono {
  const app = new Hono();
  app.onError((error) => refusal(error));
  app.notFound(() => refusal(new ProcsupError("not_found", "No such path; POST /ipc is the one")));
  app.use(async (c, next) => {
    await next();
    c.header(PEER_HEADER, OWN_PEER);
  });
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () => refusal(new ProcsupError("body_too_large", "The body is larger than 1 MiB")),
    }),
  );
  app.get("/api/ping", async (c) => await answer(c, context, "ping", undefined));
  app.post("/api/:action", async (c) => {
    const body = await readJson(c);
    return await answer(c, context, c.req.param("action"), payloadOf(body));
  });
  app.post("/ipc", async (c) => {
    const body = await readJson(c);
    if (typeof body !== "object" || body === null || !("action" in body)) {
      throw new ProcsupError("bad_request", 'Missing "action": the envelope is {action, payload}');
    }
    return await answer(
      c,
      context,
      String(body.action),
      "payload" in body ? body.payload : undefined,
    );
  });
  app.get("/logs", (c) => {
    authorize(c, context, "logs");
    return ndjson(streamLogs(context, new URL(c.req.url).searchParams));
  });
  app.get("/events", (c) => {
    authorize(c, context, "events");
    return ndjson(events(c, context));
  });
  return app;
}

async function answer(
  c: Context,
  context: ActionContext,
  action: string,
  payload: unknown,
): Promise<Response> {
  authorize(c, context, action);
  return c.json(success(await dispatch(context, action, payload)));
}

function authorize(c: Context, { token }: ActionContext, action: string): void {
  if (action === "ping" || token.accepts(c.req.header("authorization"))) return;
  throw new ProcsupError("unauthorized", "The token is missing or wrong", {
    hint: "It is in the file token of the daemon's home",
  });
}

function refusal(error: unknown): Response {
  const { envelope, status } = failure(error);
  return Response.json(envelope, { status });
}

async function readJson(c: Context): Promise<unknown> {
  const text = await c.req.text();
  return text === "" ? undefined : parseJson(text);
}

/** `POST /api/{action}` takes the bare payload, or the whole envelope. */
function payloadOf(body: unknown): unknown {
  const keys = typeof body === "object" && body !== null ? Object.keys(body) : [];
  const enveloped = keys.includes("payload") &&
    keys.every((k) => k === "payload" || k === "action");
  return enveloped ? (body as { payload: unknown }).payload : body;
}

function events(c: Context, { manager }: ActionContext): ReadableStream<unknown> {
  const target = c.req.query("target") ?? "all";
  // A target that matches nothing is an error now, not a stream that stays empty.
  const wanted = target === "all" ? undefined : new Set(manager.fleet.select(target).map(nameOf));
  return manager.events().pipeThrough(
    new TransformStream<ProcessChange, unknown>({
      transform: (change, out) => {
        if (wanted === undefined || wanted.has(change.name)) out.enqueue(changeJson(change));
      },
    }),
  );
}

function nameOf({ name }: { name: string }): string {
  return name;
}

/** One JSON value a line. The headers go out at once, so that a client knows it is connected. */
function ndjson(items: ReadableStream<unknown>): Response {
  const encoder = new TextEncoder();
  const body = items.pipeThrough(
    new TransformStream<unknown, Uint8Array>({
      transform: (item, out) => out.enqueue(encoder.encode(`${JSON.stringify(item)}\n`)),
    }),
  );
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}
