/** Serves the dashboard's files, the documentation and the sign-in. */

import { ProcsupError } from "../model/errors.ts";
import { eTag, ifNoneMatch } from "@std/http/etag";
import { acceptsEncodings } from "@std/http/negotiation";
import {
  addressOf,
  getOnly,
  onlyFor,
  principalOf,
  readBody,
  type WebApp,
  type WebParts,
} from "./context.ts";
import { reply, replyJson } from "./reply.ts";
import { REST_BASE } from "../protocol/version.ts";
import { PAGES, pageText } from "../docs/pages.ts";

/** Adds `/`, `/assets/*`, `/docs` and what is below `/api/v1/session`. */
export function addDashboard(app: WebApp, parts: WebParts): void {
  const files = new Files();
  getOnly(app, "/", (c) => files.serve("/", c.req.raw));
  getOnly(app, "/assets/*", (c) => files.serve(c.req.path, c.req.raw));
  addDocumentation(app);
  addSession(app, parts);
}

function addDocumentation(app: WebApp): void {
  for (const path of ["/docs", "/docs/:topic"]) {
    getOnly(app, path, async (c) => {
      const page = await documentation(c.req.param("topic"));
      if (page === undefined) throw new ProcsupError("not_found", "No such page");
      const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" };
      return reply(page, headers);
    });
  }
}

/** The Markdown of a page, with links, or the list of topics; undefined for an unknown topic. */
async function documentation(topic?: string): Promise<string | undefined> {
  const text = topic === undefined ? topics() : await pageText(topic);
  if (text === undefined) return undefined;
  const title = text.slice(2, text.indexOf("\n"));
  // Relative, since a proxy may serve it below a path.
  const up = topic === undefined ? "." : "..";
  const body = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
    // The page has no anchors.
    .replace(/\[([^\]]*)\]\(#[\w-]+\)/g, "$1")
    .replace(/\[([^\]]*)\]\((\w+)\.md(?:#[\w-]+)?\)/g, `<a href="${up}/docs/$2">$1</a>`)
    // The source code is not served.
    .replace(/\[([^\]]*)\]\(\.\.[^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\((https?:[^)]*)\)/g, '<a href="$2">$1</a>');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} · procsup</title>` +
    `<p><a href="${up}/">Dashboard</a> · <a href="${up}/docs">Topics</a></p><pre>${body}</pre></html>\n`;
}

function topics(): string {
  const lines = Object.entries(PAGES).map(([topic, { title }]) => `- [${title}](${topic}.md)`);
  return `# Documentation\n\n${lines.join("\n")}\n`;
}

function addSession(app: WebApp, parts: WebParts): void {
  const { gatekeeper } = parts;
  const { sessions } = gatekeeper;
  const path = `${REST_BASE}/session`;
  app.get(path, async (c) => {
    const { name, role, via } = await principalOf(c, parts);
    return replyJson({ name, role, via });
  });
  app.post(path, async (c) => {
    const { code, key } = await readBody(c, true);
    const { name, role, via } = code === undefined
      ? await gatekeeper.openSession(await principalOf(c, parts), String(key))
      : await gatekeeper.signIn(String(code), String(key), addressOf(c, parts.proxies));
    return replyJson({ name, role, via, daemon: await sessions.daemonKey() }, 201);
  });
  app.delete(path, async (c) => {
    const { via, credential } = await principalOf(c, parts);
    if (via === "session") sessions.signOut(credential);
    return replyJson({ status: "signed_out" });
  });
  onlyFor(app, path, ["GET", "POST", "DELETE"]);
  // Needs no credential: a tab asks before it sends anything to what listens here.
  getOnly(app, `${path}/proof`, async (c) => {
    const { key = "", nonce = "" } = c.req.query();
    if (!/^[0-9a-f]{32}$/.test(nonce)) {
      throw new ProcsupError("bad_request", 'Invalid "nonce": expected 32 hexadecimal digits');
    }
    return replyJson(await sessions.prove(key, nonce));
  });
  app.post(`${path}/pass`, async (c) => {
    const { via, credential } = await principalOf(c, parts);
    const { for: purpose } = await readBody(c, true);
    if (via !== "session") throw new ProcsupError("bad_request", "Only a session can be passed on");
    if (purpose !== "reload" && purpose !== "tab") {
      throw new ProcsupError("bad_request", 'Invalid "for": expected reload or tab');
    }
    return replyJson({ code: sessions.pass(credential, purpose) }, 201);
  });
  onlyFor(app, `${path}/pass`, ["POST"]);
}

/** A file with its tag and its compressed form. */
interface Prepared {
  readonly etag: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The dashboard's files, loaded by the first request. */
class Files {
  readonly #prepared = new Map<string, Promise<Prepared>>();

  async serve(path: string, request: Request): Promise<Response> {
    const { assetAt } = await import("./dashboard/assets.ts");
    const asset = await assetAt(path);
    if (asset === undefined) throw new ProcsupError("not_found", "No such path");
    const { text, type } = asset;
    const { etag, gzip } = await this.#prepared.getOrInsertComputed(path, () => prepared(text));
    const headers = { etag, "cache-control": "no-cache", vary: "accept-encoding" };
    if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return reply(null, headers, 304);
    const typed = { ...headers, "content-type": type };
    const asked = request.headers.get("accept-encoding");
    return asked && acceptsEncodings(request, "gzip", "identity") === "gzip"
      ? reply(gzip, { ...typed, "content-encoding": "gzip" })
      : reply(text, typed);
  }
}

async function prepared(text: string): Promise<Prepared> {
  const compressed = new Response(text).body!.pipeThrough(new CompressionStream("gzip"));
  const [etag, gzip] = await Promise.all([
    eTag(text, { weak: true }),
    new Response(compressed).bytes(),
  ]);
  return { etag, gzip };
}
