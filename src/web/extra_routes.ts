/** Paths that are no verbs: liveness, streams, metrics for Prometheus, the OpenAPI document. */

import type { ProcessChange } from "../model/process_change.ts";
import { changeJson } from "../protocol/change_json.ts";
import type { Backend } from "./backend.ts";
import { readText } from "./body.ts";
import { onlyFor, principalOf, type WebApp, type WebContext, type WebParts } from "./context.ts";
import { untilRevoked } from "../auth/gatekeeper.ts";
import { reply, replyJson, replyWith } from "./reply.ts";
import { allowRole, type Principal } from "../auth/principal.ts";
import { REST_BASE } from "../protocol/version.ts";
import { logReply, streamReply } from "./streams.ts";

/** Adds them. */
export function addExtras(app: WebApp, parts: WebParts): void {
  const { backend } = parts;
  const { gatekeeper } = parts;
  type Answer = (c: WebContext, principal: Principal) => Promise<Response>;
  const get = (path: string, answer: Answer) => {
    app.get(path, async (c) => {
      const principal = await principalOf(c, gatekeeper);
      allowRole(principal, "read");
      return await answer(c, principal);
    });
    onlyFor(app, path, ["GET"]);
  };
  app.get(
    "/livez",
    () => reply("ok\n", { "content-type": "text/plain", "cache-control": "no-store" }),
  );
  onlyFor(app, "/livez", ["GET"]);
  get(`${REST_BASE}/events`, (c, principal) => {
    const items = untilRevoked(events(c, backend), principal, gatekeeper);
    return Promise.resolve(streamReply(items, c.req.raw));
  });
  get(`${REST_BASE}/logs`, async (c, principal) => {
    const stream = await backend.streamLogs(new URL(c.req.url).searchParams);
    return logReply(untilRevoked(stream, principal, gatekeeper), c.req.raw);
  });
  get("/metrics", async () => {
    const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
    return reply(await metricsText(backend), {
      "content-type": METRICS_TYPE,
      "cache-control": "no-store",
    });
  });
  get("/openapi.json", async () => {
    const { openApi } = await import("./openapi.ts");
    return replyJson(openApi());
  });
  addMounts(app, parts);
}

function addMounts(app: WebApp, { mounts = {}, gatekeeper }: WebParts): void {
  for (const [path, { role, handle }] of Object.entries(mounts)) {
    app.all(path, async (c) => {
      const principal = await principalOf(c, gatekeeper);
      allowRole(principal, role);
      const { url, method } = c.req;
      const hasBody = method !== "GET" && method !== "HEAD";
      const body = hasBody ? { body: await readText(c) } : {};
      const request = new Request(url, { method, headers: c.req.header(), ...body });
      const response = await handle(request, principal);
      const { body: answer } = response;
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      return replyWith(
        response,
        isStream && answer !== null ? untilRevoked(answer, principal, gatekeeper) : answer,
      );
    });
  }
}

function events(c: WebContext, backend: Backend): ReadableStream<unknown> {
  const target = c.req.query("target") ?? "all";
  // A target that matches nothing is an error now, not a stream that stays empty.
  const wanted = target === "all" ? undefined : backend.namesOf(target);
  return backend.events().pipeThrough(
    new TransformStream<ProcessChange, unknown>({
      transform: (change, out) => {
        if (wanted === undefined || wanted.has(change.name)) out.enqueue(changeJson(change));
      },
    }),
  );
}
