/** Authentication and roles. */

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { SignInRateLimit } from "../../src/auth/gatekeeper.ts";
import { NamedTokens } from "../../src/auth/named_tokens.ts";
import { type SessionOwner, Sessions } from "../../src/auth/sessions.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { unsealed, writeState } from "../../src/platform/files/state_file.ts";
import { PROTOCOL, VERSION } from "../../src/protocol/version.ts";
import { VERB_ROWS } from "../../src/verbs/mod.ts";
import { isPublicKey, newKeyPair, publicText } from "../../src/protocol/session_signature.ts";
import type { Role } from "../../src/verbs/verb.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { FakeWeb, OWNER, TOKEN } from "./fake_backend.ts";

const P = "/api/v1/processes";

Deno.test("webApp() rejects requests without a token, except for public routes", async () => {
  await using web = new FakeWeb();
  for (const path of [P, `${P}/api/logs`, "/metrics", "/openapi.json", "/api/v1/events"]) {
    const { status, body, headers } = await web.ask("GET", path, { token: "" });
    assertEquals([status, body.code], [401, "unauthorized"], path);
    assertEquals(headers.get("www-authenticate"), "Bearer");
  }
  for (const path of ["/", "/livez", "/api/v1/ping"]) {
    assertEquals((await web.ask("GET", path, { token: "" })).status, 200, path);
  }
  assertEquals(web.calls.map(([verb]) => verb), ["ping"]);
});

Deno.test("webApp() allows a named token what its role permits, and nothing once revoked", async () => {
  await using web = new FakeWeb();
  const { token: read } = await web.tokens.create("grafana", { role: "read" });
  const { token: operate } = await web.tokens.create("ops", { role: "operate" });
  const { token: admin } = await web.tokens.create("boss", { role: "admin" });
  const rows: [string, string, unknown, number, number, number][] = [
    ["GET", P, undefined, 200, 200, 200],
    ["GET", `${P}/api/logs`, undefined, 200, 200, 200],
    ["POST", `${P}/api/restart`, undefined, 403, 200, 200],
    ["POST", `${P}/api/start`, undefined, 403, 200, 200],
    ["POST", P, { name: "x" }, 403, 403, 201],
    ["PATCH", `${P}/api`, { tags: ["x"] }, 403, 403, 200],
    ["DELETE", `${P}/api`, undefined, 403, 403, 200],
    ["POST", "/ipc", { action: "list" }, 200, 200, 200],
    ["POST", "/ipc", { action: "restart", payload: "api" }, 403, 200, 200],
    ["POST", "/ipc", { action: "start", payload: { target: "api" } }, 403, 200, 200],
    ["POST", "/ipc", { action: "start", payload: { name: "x" } }, 403, 403, 200],
    ["POST", "/ipc", { action: "delete", payload: "api" }, 403, 403, 200],
  ];
  for (const [method, path, body, ...expected] of rows) {
    const init = body === undefined ? {} : { body };
    const statuses = await Promise.all(
      [read, operate, admin].map(async (token) =>
        (await web.ask(method, path, { ...init, token })).status
      ),
    );
    assertEquals(statuses, expected, `${method} ${path}`);
  }
  web.tokens.revoke("ops");
  assertEquals((await web.ask("GET", P, { token: operate })).status, 401);
  assertEquals(web.tokens.list().map(({ name }) => name), ["boss", "grafana"]);
});

Deno.test("/ipc of the web accepts only verbs that have a route, and refuses every request that REST refuses", async () => {
  await using web = new FakeWeb();
  const call = (action: unknown, how: { token?: string; headers?: Record<string, string> } = {}) =>
    web.ask("POST", "/ipc", {
      body: { action, payload: action === "stop" ? "api" : undefined },
      ...how,
    });
  // The daemon cannot be shut down over a network, nor the owner's token be read.
  const local: readonly string[] = VERB_ROWS
    .filter(([, { rest }]) => rest === undefined)
    .map(([name]) => name);
  for (const verb of local) {
    const { status, body } = await call(verb);
    assertEquals(
      [status, body.code, body.success, body.data],
      [403, "forbidden", false, null],
      verb,
    );
  }
  for (const verb of ["token", "release", "shutdown", "web_start"]) {
    assert(local.includes(verb), verb);
  }
  for (const token of ["", "wrong"]) {
    for (const verb of ["list", "stop", "token", "nothing"]) {
      assertEquals((await call(verb, { token })).body.code, "unauthorized", verb);
    }
  }
  assertEquals((await call("ping", { token: "" })).body.data.status, "ok");
  assertEquals((await call("nothing")).body.code, "unknown_verb");
  assertEquals((await call(5)).body.error, 'Invalid "action" 5: expected the name of a verb');
  assertEquals((await web.ask("POST", "/ipc", { body: {} })).body.code, "bad_request");
  assertEquals((await web.ask("GET", "/ipc")).headers.get("allow"), "POST");
  const large = { action: "stop", payload: "x".repeat(1024 * 1024) };
  assertEquals((await web.ask("POST", "/ipc", { body: large })).status, 413);
  const early = { action: "ping", payload: "x".repeat(4096) };
  assertEquals((await web.ask("POST", "/ipc", { body: early, token: "" })).status, 413);
  for (
    const headers of <Record<string, string>[]> [
      { origin: "http://evil.com" },
      { host: "evil.com" },
      { "sec-fetch-site": "cross-site" },
      { "content-type": "text/plain" },
    ]
  ) assert((await call("stop", { headers })).status >= 400, Object.keys(headers)[0]);
  assertEquals(web.calls.map(([verb]) => verb), ["ping"]);
  const { status, body, headers } = await call("stop");
  assertEquals([status, body.success, body.data.status], [200, true, "stopped"]);
  assertEquals(headers.get("procsup-daemon"), `${VERSION} ${PROTOCOL}`);
});

Deno.test("webApp() signs a tab in with a code that works once, within a minute", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const key = await publicText(await newKeyPair());
  const signIn = (code: string, more = {}) =>
    web.ask("POST", "/api/v1/session", { token: "", body: { code, key, ...more } });
  const late = web.sessions.code();
  clock.advance(60_001);
  assertEquals((await signIn(late)).status, 401);
  const code = web.sessions.code();
  for (const bad of [undefined, "", "04", 5, key.slice(2), `${key}00`, `04${"0".repeat(128)}`]) {
    const { status, body } = await signIn(code, { key: bad });
    assertEquals([status, body.code], [400, "bad_request"], String(bad));
  }
  const { status, body: { daemon, ...who }, headers } = await signIn(code);
  assertEquals([status, who], [201, { name: "dashboard", role: "admin", via: "session" }]);
  assert(isPublicKey(daemon));
  assertEquals(headers.get("set-cookie"), null);
  assertEquals((await signIn(code)).status, 401);

  const session = await web.session();
  assertEquals((await web.askAs(session, "GET", "/api/v1/session")).body, who);
  assertEquals((await web.askAs(session, "POST", `${P}/api/stop`)).status, 200);
  assertEquals((await web.askAs(session, "DELETE", "/api/v1/session")).status, 200);
  assertEquals((await web.askAs(session, "GET", P)).status, 401);
});

Deno.test("webApp() takes a signature once, for its request, its time and its daemon only", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const session = await web.session();
  const send = (method: string, path: string, authorization: string, body?: string) =>
    web.ask(method, path, { token: "", headers: { authorization }, body });
  const stop = `${P}/api/stop`;
  const used = await session.authorization("POST", stop);
  assertEquals((await send("POST", stop, used)).status, 200);
  web.calls.length = 0;

  const refused = async (what: string, method: string, path: string, header: string, body = "") => {
    const { status } = await send(method, path, header, body || undefined);
    assertEquals(status, 401, what);
  };
  await refused("a second time", "POST", stop, used);
  const other = await session.authorization("POST", `${P}/api/start`);
  await refused("another path", "POST", stop, other);
  await refused(
    "another method",
    "DELETE",
    `${P}/api`,
    await session.authorization("GET", `${P}/api`),
  );
  await refused(
    "another query",
    "POST",
    `${stop}?force=true`,
    await session.authorization("POST", stop),
  );
  const body = JSON.stringify({ name: "x", entrypoint: "a" });
  await refused("another body", "POST", P, await session.authorization("POST", P, body), "{}");
  await refused("a body added", "POST", P, await session.authorization("POST", P), body);
  const parts = (await session.authorization("POST", stop)).split(/[. ]/);
  const stranger = await web.session();
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i]!;
    const changed = i === 1 ? stranger.id : part.slice(0, -1) + (part.endsWith("1") ? "2" : "1");
    const header = `Procsup ${parts.with(i, changed).slice(1).join(".")}`;
    await refused(`part ${i} changed`, "POST", stop, header);
  }
  for (const header of ["Procsup", "Procsup a.b.c.d.e.f", `Procsup ${session.id}`]) {
    await refused(header, "POST", stop, header);
  }
  const old = await session.authorization("POST", stop);
  clock.advance(60_001);
  await refused("a minute later", "POST", stop, old);
  const before = await session.authorization("POST", stop);
  session.proof = (await web.ask("GET", session.proofPath(), { token: "" })).body;
  const captured = await session.authorization("POST", stop);
  // The daemon begins to listen anew, as after an upgrade.
  web.sessions.listenAt("");
  await refused("another epoch", "POST", stop, captured);
  await refused("an older epoch", "POST", stop, before);
  assertEquals(web.calls, []);
  session.proof = (await web.ask("GET", session.proofPath(), { token: "" })).body;
  assertEquals((await web.askAs(session, "POST", stop)).status, 200);
  // At another address another program may pass on what it gets.
  web.sessions.listenAt("127.0.0.1:1");
  session.proof = (await web.ask("GET", session.proofPath(), { token: "" })).body;
  assertEquals((await web.askAs(session, "POST", stop)).status, 401);
  web.sessions.listenAt("");
  session.proof = (await web.ask("GET", session.proofPath(), { token: "" })).body;
  assertEquals((await web.askAs(session, "POST", stop)).status, 200);
});

Deno.test("a session is continued by a code once, until the daemon stops listening", async () => {
  await using web = new FakeWeb();
  const session = await web.session();
  const pass = async (purpose: string) =>
    (await web.askAs(session, "POST", "/api/v1/session/pass", { for: purpose })).body.code;
  const use = async (code: string) => {
    const key = await publicText(await newKeyPair());
    return (await web.ask("POST", "/api/v1/session", { token: "", body: { code, key } })).status;
  };
  const [first, second] = [await pass("tab"), await pass("tab")];
  assertEquals([await use(second), await use(first), await use(first)], [201, 201, 401]);
  const replaced = await pass("reload");
  const reload = await pass("reload");
  assertEquals([await use(replaced), await use(reload), await use(reload)], [401, 201, 401]);
  // The page before the reload is gone.
  assertEquals((await web.askAs(session, "GET", P)).status, 401);
  assertEquals(web.sessions.list().length, 3);

  const again = await web.session();
  const code = (await web.askAs(again, "POST", "/api/v1/session/pass", { for: "tab" })).body.code;
  const link = web.sessions.code();
  web.sessions.listenAt("");
  assertEquals([await use(code), await use(link)], [401, 401]);
});

Deno.test("webApp() rejects a session without a signature", async () => {
  await using web = new FakeWeb();
  const session = await web.session();
  const paths: [string, string][] = [
    ...["/processes", "/processes/api", "/processes/api/logs", "/logs", "/events", "/session"]
      .map((path): [string, string] => ["GET", `/api/v1${path}`]),
    ...["/metrics", "/openapi.json"].map((path): [string, string] => ["GET", path]),
    ...["/api/v1/processes/api/stop", "/mcp", "/api/v1/session/pass"]
      .map((path): [string, string] => ["POST", path]),
    ["DELETE", "/api/v1/session"],
  ];
  const cookie = `procsup_session=${session.id}`;
  const wrong: Record<string, string>[] = [{ cookie }, { authorization: `Bearer ${session.id}` }];
  for (const headers of wrong) {
    for (const [method, path] of paths) {
      const body = method === "POST" ? {} : undefined;
      const { status } = await web.ask(method, path, { token: "", headers, body });
      assert([401, 429].includes(status), `${method} ${path} ${status}`);
    }
  }
  assertEquals(web.calls, []);
  assertEquals((await web.askAs(session, "GET", P)).status, 200);
});

Deno.test("webApp() ends a session after a day", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const session = await web.session();
  clock.advance(24 * 3_600_000);
  session.proof = (await web.ask("GET", session.proofPath(), { token: "" })).body;
  assertEquals((await web.askAs(session, "GET", P)).status, 200);
  clock.advance(1);
  assertEquals((await web.askAs(session, "GET", P)).status, 401);
});

Deno.test("webApp() answers 429 after ten wrong tokens a minute, and still accepts the right one", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const wrong = `${TOKEN.slice(0, -1)}0`;
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await web.ask("GET", P, { token: wrong })).status);
  assertEquals(statuses, [...Array(10).fill(401), 429, 429]);
  clock.advance(18_000);
  const { headers, body } = await web.ask("GET", P, { token: wrong });
  assertEquals(headers.get("retry-after"), "42");
  assertEquals(body.error, "Too many failed sign-ins: try again in 42 s");
  assertEquals((await web.ask("GET", P)).status, 200);
  clock.advance(42_001);
  assertEquals((await web.ask("GET", P, { token: wrong })).status, 401);
});

Deno.test("webApp() accepts only its own host names", async () => {
  await using web = new FakeWeb();
  const status = async (host: string) => (await web.ask("GET", P, { headers: { host } })).status;
  for (const host of ["127.0.0.1", "localhost:9615", "[::1]:9615", "LOCALHOST", "box.lan:80"]) {
    assertEquals(await status(host), 200, host);
  }
  const bad = ["evil.com", "127.0.0.1.evil.com", "localhost.", "localhost:9615@evil", "", "127.1"];
  for (const host of bad) assertEquals(await status(host), 403, host);
});

Deno.test("webApp() rejects requests that another site may have caused", async () => {
  await using web = new FakeWeb();
  const status = async (method: string, path: string, headers: Record<string, string>) =>
    (await web.ask(method, path, { headers })).status;
  for (const origin of ["http://evil.com", "null", "http://127.0.0.1:3000", "file://"]) {
    for (const [method, path] of [["GET", P], ["POST", `${P}/api/stop`], ["GET", "/"]] as const) {
      assertEquals(await status(method, path, { origin }), 403, `${origin} ${method} ${path}`);
    }
  }
  assertEquals(await status("GET", P, { origin: "http://127.0.0.1:9615" }), 200);
  assertEquals(await status("GET", P, { "sec-fetch-site": "cross-site" }), 403);
  assertEquals(await status("GET", P, { "sec-fetch-site": "same-site" }), 403);
  assertEquals(await status("GET", "/", { "sec-fetch-site": "cross-site" }), 200);
  assertEquals(web.calls.filter(([verb]) => verb === "stop"), []);
});

Deno.test("webApp() adds security headers to every answer", async () => {
  await using web = new FakeWeb();
  for (const path of ["/", P, "/nothing"]) {
    const { headers } = await web.ask("GET", path);
    assertMatch(
      headers.get("content-security-policy")!,
      /default-src 'self'.*frame-ancestors 'none'/,
    );
    assertEquals(headers.get("x-content-type-options"), "nosniff", path);
    assertEquals(headers.get("access-control-allow-origin"), null, path);
  }
  assertEquals((await web.ask("GET", P)).headers.get("cache-control"), "no-store");
});

Deno.test("webApp() serves the dashboard with an ETag", async () => {
  await using web = new FakeWeb();
  const first = await web.ask("GET", "/", { token: "" });
  const etag = first.headers.get("etag")!;
  assertMatch(first.body, /^<!DOCTYPE html>/i);
  for (const known of [etag, etag.replace("W/", ""), `"x", ${etag}`, "*"]) {
    const again = await web.ask("GET", "/", { token: "", headers: { "if-none-match": known } });
    assertEquals([again.status, again.body], [304, ""], known);
  }
  const other = await web.ask("GET", "/", { token: "", headers: { "if-none-match": '"x"' } });
  assertEquals(other.status, 200);
  for (
    const [asked, encoding] of [["gzip, deflate, br", "gzip"], ["*", "gzip"], ["br", null], [
      "gzip;q=0",
      null,
    ], ["", null]] as const
  ) {
    const headers = { "accept-encoding": asked };
    const answer = await web.ask("GET", "/", { token: "", headers });
    assertEquals(answer.headers.get("content-encoding"), encoding, asked);
    assertEquals(answer.headers.get("vary"), "accept-encoding");
  }
});

Deno.test("webApp() compresses JSON of a kilobyte or more for clients that accept it", async () => {
  await using web = new FakeWeb();
  const ask = async (method: string, path: string, accepted: string) => {
    const headers = {
      ...{ host: "127.0.0.1:9615", authorization: `Bearer ${TOKEN}` },
      "accept-encoding": accepted,
    };
    const answer = await web.app.request(`http://127.0.0.1:9615${path}`, { method, headers });
    await answer.body?.cancel();
    return answer.headers.get("content-encoding");
  };
  assertEquals(await ask("GET", "/openapi.json", "gzip, br"), "gzip");
  assertEquals(await ask("GET", "/openapi.json", "br"), null);
  assertEquals(await ask("HEAD", "/openapi.json", "gzip"), null);
  assertEquals(await ask("GET", "/api/v1/session", "gzip"), null, "too small");
  assertEquals(await ask("GET", "/api/v1/events", "gzip"), null, "a stream");
});

Deno.test("NamedTokens stores hashes in a private file, and recognizes the tokens later", async () => {
  await using home = tempHome();
  const path = `${home.path}/tokens.json`;
  const { token } = await new NamedTokens(path).create("ci", { role: "operate" });
  assert(!Deno.readTextFileSync(path).includes(token));
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  assertEquals((await new NamedTokens(path).find(token))?.role, "operate");
  assertEquals(await new NamedTokens(path).find(`${token}0`), undefined);
});

Deno.test("NamedTokens revokes all with their file, whatever copy is left", async () => {
  await using home = tempHome();
  const path = `${home.path}/tokens.json`;
  const { token } = await new NamedTokens(path).create("ci", { role: "operate" });
  Deno.removeSync(path);
  assertEquals(await new NamedTokens(path).find(token), undefined);
  assertEquals(await new NamedTokens(path).find(token), undefined);
});

Deno.test("NamedTokens creates one token of a name that two ask for at once", async () => {
  await using home = tempHome();
  const tokens = new NamedTokens(`${home.path}/tokens.json`);
  const all = await Promise.allSettled(
    ["read", "admin"].map((role) => tokens.create("ci", { role: role as Role })),
  );
  // Whose hash is ready first creates it.
  assertEquals(all.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assertEquals(tokens.list().length, 1);
});

Deno.test("NamedTokens lets no token make one that is valid longer, and tells who made it and its last use", async () => {
  await using home = tempHome();
  const path = `${home.path}/tokens.json`;
  const clock = new FakeClock();
  const tokens = new NamedTokens(path, () => {}, clock);
  const { token, expires_at: end } = await tokens.create("boss", { role: "admin", expires: "2d" });
  const longer = tokens.create("ci", { role: "read", expires: "3d" }, "boss");
  await assertRejects(() => longer, ProcsupError, `your own token is valid until ${end}`);
  await tokens.create("ci", { role: "read" }, "boss");
  await tokens.find(token);
  const [boss, ci] = new NamedTokens(path, () => {}, clock).list();
  assertEquals([ci?.expires_at, ci?.made_by, ci?.last_used_at], [end, "boss", undefined]);
  assertEquals([boss?.made_by, boss?.last_used_at], [
    undefined,
    new Date(clock.now()).toISOString(),
  ]);
  // A file that was removed is not restored.
  Deno.removeSync(path);
  await new NamedTokens(path, () => {}, clock).find(token);
  await tokens.find(token);
  assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
});

Deno.test("NamedTokens keeps at most 1000 tokens, and none of an unknown role", async () => {
  await using home = tempHome();
  const path = `${home.path}/tokens.json`;
  const { token } = await new NamedTokens(path).create("ci", { role: "operate" });
  const file = unsealed(Deno.readTextFileSync(path)) as { tokens: { sha256: string }[] };
  const { sha256, ...ci } = file.tokens[0]!;
  const write = (tokens: readonly unknown[]) => writeState(path, { version: 1, tokens });
  write(Array.from({ length: 999 }, (_, n) => ({ ...ci, sha256: `${n}`, name: `n${n}` })));
  const tokens = new NamedTokens(path);
  await tokens.create("last", { role: "read" });
  await assertRejects(() => tokens.create("more", { role: "read" }), ProcsupError, "limit 1000");
  write([{ ...ci, sha256, role: "root" }]);
  assertEquals(await new NamedTokens(path).find(token), undefined);
  write([{ ...ci, sha256 }]);
  assertEquals((await new NamedTokens(path).find(token))?.name, "ci");
});

Deno.test("NamedTokens changes nothing that it cannot save", async () => {
  await using home = tempHome();
  const folder = `${home.path}/a`;
  Deno.mkdirSync(folder);
  const tokens = new NamedTokens(`${folder}/tokens.json`);
  const { token } = await tokens.create("ci", { role: "admin" });
  Deno.renameSync(folder, `${home.path}/b`);
  assertThrows(() => tokens.revoke("ci"), Deno.errors.NotFound);
  await assertRejects(() => tokens.create("ops", { role: "read" }), Deno.errors.NotFound);
  Deno.renameSync(`${home.path}/b`, folder);
  tokens.revoke("ci");
  assertEquals(await new NamedTokens(`${folder}/tokens.json`).find(token), undefined);
  await tokens.create("ops", { role: "read" });
});

Deno.test("Gatekeeper gives the holder of a token that was just revoked no session and no code", async () => {
  await using web = new FakeWeb();
  const { gatekeeper, tokens } = web;
  const { token } = await tokens.create("boss", { role: "admin" });
  const authorization = `Bearer ${token}`;
  const principal = await gatekeeper.identify({ authorization, address: "" });
  const key = await publicText(await newKeyPair());
  const assertRefused = async () => {
    let ended = 0;
    gatekeeper.whenRevoked(principal, () => ended++)();
    assertEquals(ended, 1);
    assertThrows(() => gatekeeper.code(principal), ProcsupError, "The token is missing or wrong");
    await assertRejects(() => gatekeeper.openSession(principal, key), ProcsupError);
  };
  gatekeeper.revoke("boss");
  await assertRefused();
  // Neither does a new token of the same name, which has fewer rights.
  await waitFor(() => new Date().toISOString() > principal.credential.split(" ")[2]!);
  await tokens.create("boss", { role: "read" });
  await assertRefused();
});

Deno.test("Gatekeeper ends at once what begins after its credential was revoked", async () => {
  await using web = new FakeWeb();
  const { gatekeeper } = web;
  const { token } = await web.tokens.create("ci", { role: "read" });
  const identify = (secret: string) =>
    gatekeeper.identify({ authorization: `Bearer ${secret}`, address: "" });
  const [owner, named] = [await identify(TOKEN), await identify(token)];
  const key = await publicText(await newKeyPair());
  const session = await gatekeeper.openSession(named, key);
  const ended: string[] = [];
  const begin = () =>
    [owner, named, session].map((principal, index) =>
      gatekeeper.whenRevoked(principal, () => ended.push(["owner", "named", "session"][index]!))
    ).forEach((cancel) => cancel());
  begin();
  assertEquals(ended, []);
  gatekeeper.revoke("ci");
  begin();
  assertEquals(ended, ["named", "session"]);
  gatekeeper.ownerChanged();
  begin();
  assertEquals(ended, ["named", "session", "owner", "named", "session"]);
});

Deno.test("Sessions keeps the latest 100 codes", async () => {
  const sessions = new Sessions();
  const key = await publicText(await newKeyPair());
  const [first, second] = Array.from({ length: 101 }, () => sessions.code());
  assertEquals(await sessions.signIn(first!, key), false);
  assertEquals(await sessions.signIn(second!, key), true);
});

Deno.test("Sessions ends those of the account with the most at the limit, with all that depends on them", async () => {
  const sessions = new Sessions();
  const open = async (owner: SessionOwner) => {
    const key = await publicText(await newKeyPair());
    await sessions.open(owner, key);
    return key;
  };
  const owner = await open(OWNER);
  const greedy = { name: "ci", role: "read", tokenOf: "2026" } as const;
  const first = await open(greedy);
  const ended: string[] = [];
  for (const session of [owner, first]) sessions.whenEnded(session, () => ended.push(session));
  for (let opened = 1; opened < 1500; opened++) await open(greedy);
  assertEquals([sessions.has(owner), ended], [true, [first]]);
  for (let opened = 1; opened < 10; opened++) await open(OWNER);
  assertEquals([sessions.has(owner), sessions.list().length], [true, 1000]);
  sessions.signOut(({ name }) => name === "ci");
  assertEquals(sessions.list().length, 10);
  sessions.signOut(owner);
  assertEquals(ended, [first, owner]);
});

Deno.test("SignInRateLimit uses a monotonic clock", () => {
  const clock = new FakeClock();
  const attempts = new SignInRateLimit(clock);
  for (let failure = 0; failure < 10; failure++) assertEquals(attempts.fail("::1"), 0);
  clock.jump(61_000);
  assertEquals(attempts.fail("::1"), 60);
  clock.advance(60_001);
  assertEquals(attempts.fail("::1"), 0);
});

Deno.test("SignInRateLimit forgets the address without failures for the longest time after 10,000", () => {
  const attempts = new SignInRateLimit(new FakeClock());
  for (const address of ["a", "b"]) {
    for (let failure = 0; failure < 10; failure++) attempts.fail(address);
  }
  for (let n = 0; n < 9999; n++) attempts.fail(`${n}`);
  assertEquals([attempts.fail("b") > 0, attempts.fail("a")], [true, 0]);
});
