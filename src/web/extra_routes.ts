/** Paths that are no verbs: liveness, streams, metrics for Prometheus, the OpenAPI document. */

import type { ProcessChange } from "../model/process_change.ts";
import { changeJson } from "../protocol/change_json.ts";
import type { PingJson } from "../protocol/actions.ts";
import type { Backend } from "./backend.ts";
import { readText } from "./body.ts";
import { onlyFor, principalOf, type WebApp, type WebContext, type WebParts } from "./context.ts";
import { allow } from "./gatekeeper.ts";
import { reply, replyJson } from "./reply.ts";
import { BASE } from "./routes.ts";
import { streamReply } from "./streams.ts";

/** Adds them. */
export function addExtras(app: WebApp, parts: WebParts): void {
  const { backend } = parts;
  const get = (path: string, action: string, answer: (c: WebContext) => Promise<Response>) => {
    app.get(path, async (c) => {
      allow(await principalOf(c, parts.gatekeeper), action);
      return await answer(c);
    });
    onlyFor(app, path, ["GET"]);
  };
  app.get(
    "/livez",
    () => reply("ok\n", { "content-type": "text/plain", "cache-control": "no-store" }),
  );
  onlyFor(app, "/livez", ["GET"]);
  app.get(`${BASE}/ping`, async () => replyJson(await backend.dispatch("ping", undefined)));
  onlyFor(app, `${BASE}/ping`, ["GET"]);
  get(`${BASE}/events`, "events", (c) => Promise.resolve(events(c, backend)));
  get(`${BASE}/logs`, "logs", (c) => {
    const stream = backend.streamLogs(new URL(c.req.url).searchParams);
    return Promise.resolve(streamReply(stream, c.req.header("accept")));
  });
  get("/metrics", "metrics", async () => {
    const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
    return reply(await metricsText(backend), {
      "content-type": METRICS_TYPE,
      "cache-control": "no-store",
    });
  });
  get("/openapi.json", "openapi", async () => {
    const { openApi } = await import("./openapi.ts");
    const { version } = await backend.dispatch("ping", undefined) as PingJson;
    return replyJson(openApi(backend.actions, version));
  });
  addMounts(app, parts);
}

function addMounts(app: WebApp, { mounts = {}, gatekeeper }: WebParts): void {
  for (const [path, { action, handle }] of Object.entries(mounts)) {
    app.all(path, async (c) => {
      const principal = await principalOf(c, gatekeeper);
      allow(principal, action);
      const { url, method } = c.req;
      const hasBody = method !== "GET" && method !== "HEAD";
      const body = hasBody ? { body: await readText(c) } : {};
      return await handle(
        new Request(url, { method, headers: c.req.header(), ...body }),
        principal,
      );
    });
  }
}

function events(c: WebContext, backend: Backend): Response {
  const target = c.req.query("target") ?? "all";
  // A target that matches nothing is an error now, not a stream that stays empty.
  const wanted = target === "all" ? undefined : backend.namesOf(target);
  const items = backend.events().pipeThrough(
    new TransformStream<ProcessChange, unknown>({
      transform: (change, out) => {
        if (wanted === undefined || wanted.has(change.name)) out.enqueue(changeJson(change));
      },
    }),
  );
  return streamReply(items, c.req.header("accept"));
}
