/** The dashboard's files, and the sign-in. */

import { ProcsupError } from "../model/errors.ts";
import { eTag, ifNoneMatch } from "../npm/http.js";
import { readBody } from "./body.ts";
import { addressOf, onlyFor, principalOf, type WebApp, type WebParts } from "./context.ts";
import type { Asset } from "./dashboard/assets.ts";
import { reply, replyJson } from "./reply.ts";
import { sessionCookie } from "../auth/sessions.ts";

/** Adds `/`, `/assets/*`, `/docs` and `/api/v1/session`. */
export function addDashboard(app: WebApp, parts: WebParts): void {
  const files = new Files();
  app.get("/", (c) => files.serve("/", c.req.header("if-none-match")));
  onlyFor(app, "/", ["GET"]);
  app.get("/assets/*", (c) => files.serve(c.req.path, c.req.header("if-none-match")));
  onlyFor(app, "/assets/*", ["GET"]);
  addDocumentation(app);
  addSession(app, parts);
}

function addDocumentation(app: WebApp): void {
  for (const path of ["/docs", "/docs/:topic"]) {
    app.get(path, async (c) => {
      const { documentation } = await import("./documentation.ts");
      const page = await documentation(c.req.param("topic"));
      if (page === undefined) throw new ProcsupError("not_found", "No such page");
      const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" };
      return reply(page, headers);
    });
    onlyFor(app, path, ["GET"]);
  }
}

function addSession(app: WebApp, { gatekeeper }: WebParts): void {
  app.get("/api/v1/session", async (c) => {
    const { name, role, via } = await principalOf(c, gatekeeper);
    return replyJson({ name, role, via });
  });
  app.post("/api/v1/session", async (c) => {
    const { code } = await readBody(c, false);
    const { principal, keys } = code === undefined
      ? gatekeeper.openSession(await principalOf(c, gatekeeper))
      : gatekeeper.signIn(String(code), addressOf(c));
    const { name, role, via } = principal;
    return replyJson({ name, role, via, secret: keys.secret }, 201, {
      location: "/",
      "set-cookie": sessionCookie(keys.session, c.req.header("origin")),
    });
  });
  app.delete("/api/v1/session", async (c) => {
    const { via, credential } = await principalOf(c, gatekeeper);
    if (via === "cookie") gatekeeper.signOut(credential);
    const cookie = sessionCookie(undefined, c.req.header("origin"));
    return replyJson({ status: "signed_out" }, 200, { "set-cookie": cookie });
  });
  onlyFor(app, "/api/v1/session", ["GET", "POST", "DELETE"]);
}

/** The files, loaded by the first request. */
class Files {
  readonly #tags = new Map<string, Promise<string>>();

  async serve(path: string, known: string | undefined): Promise<Response> {
    const { ASSETS } = await import("./dashboard/assets.ts");
    if (!Object.hasOwn(ASSETS, path)) throw new ProcsupError("not_found", "No such path");
    const asset = ASSETS[path]!;
    const etag = await this.#tag(path, asset);
    const headers = { etag, "cache-control": "no-cache" };
    if (!ifNoneMatch(known ?? null, etag)) return reply(null, headers, 304);
    return reply(asset.text, { ...headers, "content-type": asset.type });
  }

  #tag(path: string, { text }: Asset): Promise<string> {
    return this.#tags.getOrInsertComputed(path, () => eTag(text));
  }
}
