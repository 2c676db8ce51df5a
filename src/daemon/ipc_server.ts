/** The HTTP server on the daemon's Unix socket: verbs in envelopes, and streams. */

import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import { bodyLimit } from "hono/body-limit";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import { answered, failure, readRequestEnvelope } from "../protocol/envelope.ts";
import { changesOf } from "../protocol/process_json.ts";
import { AGENT_HEADER, HOOK_HEADER, IPC_PATH, OWN_PEER, PEER_HEADER } from "../protocol/version.ts";
import type { HookOrigin } from "../process/process_requests.ts";
import { parseJson, readPayload } from "../verbs/read_input.ts";
import { readVerb, VERBS } from "../verbs/mod.ts";
import { readLogQuery, readTerminalQuery } from "../verbs/logs/rows.ts";
import type { Role } from "../verbs/verb.ts";
import { allowRole, type Principal, untilRevoked } from "../auth/gatekeeper.ts";
import { endHeadBody } from "../web/context.ts";
import type { VerbContext } from "./verb_context.ts";
import { streamLogs, streamTerminal } from "../verbs/logs/handlers.ts";
import { dispatch } from "./dispatch.ts";
import { LogBatch } from "./log_batch.ts";

const MAX_BODY_BYTES = 1024 * 1024;

const eventQuery = z.strictObject({
  target: z._default(z.string(), "all"),
  since: z.optional(z.iso.datetime()),
});

/** The routes of the Unix socket. Tests call `app.request()`, without a socket. */
export function ipcApp(context: VerbContext): Hono {
  const app = new Hono();
  app.onError((error) => refusal(error));
  app.notFound(() =>
    refusal(new ProcsupError("not_found", `No such path; send verbs to POST ${IPC_PATH}`))
  );
  app.use(endHeadBody);
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
  app.post(IPC_PATH, async (c) => {
    const { action, payload } = readRequestEnvelope(await readJson(c));
    return await answer(c, context, action, payload);
  });
  app.get("/logs", async (c) => {
    const by = await authorize(c, context);
    const query = readLogQuery(new URL(c.req.url).searchParams);
    const lines = await context.limits.open(by, () => streamLogs({ ...context, by }, query));
    return ndjson(untilDenied(lines, by, context));
  });
  // The same stream for commands, which resume it across an upgrade: `from` holds the positions the
  // client has reached.
  app.post("/logs", async (c) => {
    const by = await authorize(c, context);
    const query = readLogQuery(new URL(c.req.url).searchParams, await readJson(c));
    const lines = await context.limits.open(by, () => streamLogs({ ...context, by }, query, true));
    return ndjson(untilShutdown(lines, by, context));
  });
  app.get("/events", async (c) => {
    const by = await authorize(c, context);
    const items = await context.limits.open(by, () => events(c, context, by));
    return ndjson(untilShutdown(items, by, context));
  });
  app.get("/attach", async (c) => {
    const by = await authorize(c, context, () => VERBS.attach.role);
    const query = readTerminalQuery(new URL(c.req.url).searchParams);
    const pieces = await context.limits.open<unknown>(
      by,
      () => streamTerminal({ ...context, by }, query),
    );
    return ndjson(untilShutdown(pieces, by, context));
  });
  return app;
}

async function answer(
  c: Context,
  context: VerbContext,
  verb: string,
  payload: unknown,
): Promise<Response> {
  // Refuse a wrong token before an unknown verb.
  const role = () => readVerb(verb, payload).verb.role;
  if (verb === "ping") return reply(answered(await dispatch(context, verb, payload)));
  const principal = await authorize(c, context, role);
  const by = { ...principal, agent: agentOf(c.req.header(AGENT_HEADER)) };
  const askedIn = hookOrigin(c.req.header(HOOK_HEADER));
  return reply(answered(await dispatch({ ...context, by, askedIn }, verb, payload)));
}

function agentOf(header: string | undefined): string | undefined {
  return header && (ifPossible(() => decodeURIComponent(header)) ?? header);
}

function hookOrigin(header: string | undefined): HookOrigin | undefined {
  const [event, id] = header?.split(" ") ?? [];
  return event === undefined || id === undefined ? undefined : { event, id };
}

/** Identifies the sender and checks its role. Throws `unauthorized` or `forbidden`. */
async function authorize(
  c: Context,
  { web: { gatekeeper }, token }: VerbContext,
  needed: () => Role | "open" = () => "read",
): Promise<Principal> {
  const authorization = c.req.header("authorization");
  const sender = { authorization, address: "socket" };
  const principal = await gatekeeper.identify(sender).catch((error) => {
    // The token file that commands read may be damaged: restore it for the next one.
    // If that fails, the regular check of the home's files reports why.
    ifPossible(() => token.putBack());
    throw error;
  });
  allowRole(principal, needed());
  return principal;
}

function refusal(error: unknown): Response {
  return reply(failure(error));
}

function reply({ envelope, status }: ReturnType<typeof failure>): Response {
  return Response.json(envelope, { status });
}

async function readJson(c: Context): Promise<unknown> {
  const text = await c.req.text();
  return text === "" ? undefined : parseJson(text);
}

/** An endless stream, which ends with the daemon or when the credential of its reader is revoked. */
function untilShutdown(
  items: ReadableStream<unknown>,
  by: Principal,
  context: VerbContext,
): ReadableStream<unknown> {
  return context.shutdownNotice.atEndOf(untilDenied(items, by, context));
}

function untilDenied(
  items: ReadableStream<unknown>,
  principal: Principal,
  { web: { gatekeeper } }: VerbContext,
): ReadableStream<unknown> {
  return untilRevoked(items, { principal, gatekeeper, last: (error) => error });
}

function events(
  c: Context,
  { supervisor }: VerbContext,
  { only }: Principal,
): ReadableStream<unknown> {
  const { target, since } = readPayload(eventQuery, c.req.query());
  // Refuse a target that matches nothing, rather than send an empty stream.
  const isWanted = supervisor.directory.matcher(target, only);
  const from = since === undefined ? undefined : Date.parse(since);
  return changesOf(supervisor.events.stream(undefined, from), isWanted);
}

/** One JSON value per line. The headers are sent at once, so that a client knows it is connected. */
function ndjson(items: ReadableStream<unknown>): Response {
  const encoder = new TextEncoder();
  const lines = new TransformStream<unknown, Uint8Array>({
    transform(item, out) {
      const isBatch = item instanceof LogBatch;
      out.enqueue(isBatch ? item.ndjson : encoder.encode(`${JSON.stringify(item)}\n`));
    },
  });
  return new Response(items.pipeThrough(lines), {
    headers: { "content-type": "application/x-ndjson" },
  });
}
