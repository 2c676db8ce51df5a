/** Routes without a verb: liveness, streams, metrics for Prometheus, the OpenAPI document. */

import { allowRole, type Principal, untilRevoked } from "../auth/gatekeeper.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ErrorJson } from "../protocol/envelope.ts";
import { accepts } from "@std/http/negotiation";
import { changesOf } from "../protocol/process_json.ts";
import { changeStream, readLogQuery } from "../verbs/logs/rows.ts";
import { readPayload, readQuery } from "../verbs/read_input.ts";
import { REST_BASE } from "../protocol/version.ts";
import type { Backend } from "./backend.ts";
import {
  getOnly,
  onlyFor,
  principalOf,
  readBody,
  readText,
  type WebApp,
  type WebContext,
  type WebParts,
} from "./context.ts";
import { reply, replyJsonText, replyWith } from "./reply.ts";

export function addExtras(app: WebApp, parts: WebParts): void {
  const { gatekeeper } = parts;
  type Answer = (c: WebContext, principal: Principal, backend: Backend) => Promise<Response>;
  const get = (path: string, answer: Answer, methods: readonly string[] = ["GET"]) => {
    app.on([...methods], path, async (c) => {
      const principal = await principalOf(c, parts);
      allowRole(principal, "read");
      return await answer(c, principal, parts.backend.as(principal));
    });
    onlyFor(app, path, methods);
  };
  getOnly(
    app,
    "/livez",
    () => reply("ok\n", { "content-type": "text/plain", "cache-control": "no-store" }),
  );
  get(`${REST_BASE}/events`, async (c, principal, backend) => {
    const items = untilRevoked(await events(c, backend), {
      ...{ principal, gatekeeper, last: (error) => error },
    });
    return streamReply(backend.shutdownNotice.atEndOf(items), c.req);
  });
  get(`${REST_BASE}/logs`, async (c, principal, backend) => {
    const isResumed = c.req.method === "POST";
    const body = isResumed ? await readBody(c, true) : {};
    const query = readLogQuery(new URL(c.req.url).searchParams, body);
    // A client that resumes knows the names of its logs.
    const stream = await backend.streamLogs(query, isResumed);
    const last = (failure: ErrorJson) => ({ ndjson: lineOf(failure), failure });
    return streamReply(
      untilRevoked(stream, { principal, gatekeeper, last }),
      c.req,
      (item) => "ndjson" in item ? item.ndjson : lineOf(item),
    );
  }, ["GET", "POST"]);
  get("/metrics", async (_c, _principal, backend) => {
    const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
    return reply(await metricsText(backend), {
      "content-type": METRICS_TYPE,
      "cache-control": "no-store",
    });
  });
  get("/openapi.json", async () => {
    const { openApiText } = await import("./openapi.ts");
    return replyJsonText(openApiText(parts.basePath));
  });
  // A WebSocket does not come here: its request was taken before.
  getOnly(app, "/ws", () => {
    const lack = 'the header "Upgrade" is missing; a proxy must pass it on';
    throw new ProcsupError("bad_request", `"/ws" takes WebSockets: ${lack}`);
  });
  addMounts(app, parts);
}

function addMounts(app: WebApp, parts: WebParts): void {
  const { mounts = {}, gatekeeper } = parts;
  for (const [path, { role, handle }] of Object.entries(mounts)) {
    app.post(path, async (c) => {
      const principal = await principalOf(c, parts);
      allowRole(principal, role);
      const { url, method } = c.req;
      const headers = c.req.header();
      const request = new Request(url, { method, headers, body: await readText(c) });
      const response = await handle(request, principal);
      const { body: answer } = response;
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      return replyWith(
        response,
        isStream && answer !== null ? untilRevoked(answer, { principal, gatekeeper }) : answer,
      );
    });
    onlyFor(app, path, ["POST"]);
  }
}

async function events(c: WebContext, backend: Backend): Promise<ReadableStream<unknown>> {
  const query = new URL(c.req.url).searchParams;
  const fields = readQuery({ input: changeStream }, { query: ["target"] }, query);
  const { target } = readPayload(changeStream, fields);
  // Refuse a target that matches nothing, rather than send an empty stream.
  const tests = target.map((one) => backend.matcher(one));
  return changesOf(
    await backend.streamEvents(),
    (change) => tests.some((matches) => matches(change)),
  );
}

const LINES = "application/x-ndjson";
const EVENTS = "text/event-stream";

const encoder = new TextEncoder();

/** A stream in the format of the `Accept` header: lines of JSON or server-sent events. */
function streamReply<T>(
  items: ReadableStream<T>,
  { raw }: WebContext["req"],
  linesOf: (item: T) => Uint8Array<ArrayBuffer> = lineOf,
): Response {
  const isEvents = accepts(raw, LINES, EVENTS) === EVENTS;
  const body = items.pipeThrough(
    new TransformStream<T, Uint8Array<ArrayBuffer>>({
      // Send something at once, so that the client knows it is connected.
      start: (out) => isEvents && out.enqueue(encoder.encode(": connected\n\n")),
      transform: (item, out) => out.enqueue(isEvents ? eventsOf(linesOf(item)) : linesOf(item)),
    }),
  );
  return reply(body, {
    "content-type": isEvents ? EVENTS : LINES,
    "cache-control": "no-store",
  });
}

function lineOf(item: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${JSON.stringify(item)}\n`);
}

/** JSON contains no newline, so each newline ends an item. */
function eventsOf(lines: Uint8Array): Uint8Array<ArrayBuffer> {
  const items = new TextDecoder().decode(lines.subarray(0, -1));
  return encoder.encode(`data: ${items.replaceAll("\n", "\n\ndata: ")}\n\n`);
}
