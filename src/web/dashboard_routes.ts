/** The dashboard's files, and the sign-in. */

import { ProcsupError } from "../model/errors.ts";
import { addressOf, onlyFor, principalOf, type WebApp, type WebParts } from "./context.ts";
import type { Asset } from "./dashboard/assets.ts";
import { loginPage } from "./login_page.ts";
import { reply, replyJson } from "./reply.ts";
import { sessionCookie, sessionIn } from "./sessions.ts";

/** Adds `/`, `/assets/*`, `/login` and `/api/v1/session`. */
export function addDashboard(app: WebApp, parts: WebParts): void {
  const files = new Files();
  app.get("/", (c) => files.serve("/", c.req.header("if-none-match")));
  onlyFor(app, "/", ["GET"]);
  app.get("/assets/*", (c) => files.serve(c.req.path, c.req.header("if-none-match")));
  onlyFor(app, "/assets/*", ["GET"]);
  addSession(app, parts);
}

function addSession(app: WebApp, { gatekeeper }: WebParts): void {
  app.get("/login", (c) => {
    try {
      const session = gatekeeper.signIn(c.req.query("code") ?? "", addressOf(c));
      return seeOther("/", { "set-cookie": sessionCookie(session) });
    } catch (error) {
      // Who opened an old link is better off with a page than with JSON.
      const accept = c.req.header("accept") ?? "";
      const isBrowser = accept.includes("text/html");
      const isProgram = !isBrowser && accept.includes("application/json");
      if (isProgram || !(error instanceof ProcsupError)) throw error;
      if (!isBrowser) return loginPage(error);
      return seeOther(`/#/?failed=${error.code === "rate_limited" ? "wait" : "link"}`);
    }
  });
  onlyFor(app, "/login", ["GET"]);
  app.get("/api/v1/session", async (c) => {
    const { name, role, via } = await principalOf(c, gatekeeper);
    return replyJson({ name, role, via });
  });
  app.post("/api/v1/session", async (c) => {
    const principal = await principalOf(c, gatekeeper);
    const session = gatekeeper.openSession(principal);
    const { name, role } = principal;
    return replyJson({ name: name || "dashboard", role, via: "cookie" }, 201, {
      location: "/",
      "set-cookie": sessionCookie(session),
    });
  });
  app.delete("/api/v1/session", async (c) => {
    await principalOf(c, gatekeeper);
    const session = sessionIn(c.req.header("cookie"));
    if (session !== undefined) gatekeeper.signOut(session);
    return replyJson({ status: "signed_out" }, 200, { "set-cookie": sessionCookie(undefined) });
  });
  onlyFor(app, "/api/v1/session", ["GET", "POST", "DELETE"]);
}

function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return reply(null, { location, "cache-control": "no-store", ...headers }, 303);
}

/** The files, loaded when the first one is asked for. */
class Files {
  readonly #tags = new Map<string, string>();

  async serve(path: string, known: string | undefined): Promise<Response> {
    const { ASSETS } = await import("./dashboard/assets.ts");
    if (!Object.hasOwn(ASSETS, path)) throw new ProcsupError("not_found", "No such path");
    const asset = ASSETS[path]!;
    const etag = await this.#tag(path, asset);
    const headers = { etag, "cache-control": "no-cache" };
    const unchanged = known?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
    if (unchanged) return reply(null, headers, 304);
    return reply(asset.text, { ...headers, "content-type": asset.type });
  }

  async #tag(path: string, { text }: Asset): Promise<string> {
    const tag = this.#tags.get(path);
    if (tag !== undefined) return tag;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const made = `"${new Uint8Array(digest, 0, 12).toHex()}"`;
    this.#tags.set(path, made);
    return made;
  }
}
