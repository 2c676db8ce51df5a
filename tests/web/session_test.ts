/** Signing in with a token instead of a link. */

import { assertEquals } from "@std/assert";
import { SESSION_MS } from "../../src/auth/sessions.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { waitFor } from "../support/wait_for.ts";
import { signIn, TestSession } from "../support/web.ts";
import { FakeWeb, TOKEN } from "./fake_backend.ts";
import { hintOf } from "../support/hint_of.ts";

const SESSION = "/api/v1/session";

/** Signs in with a token. Returns the session and the answer. */
async function byToken(web: FakeWeb, token: string) {
  let who: unknown;
  const session = await TestSession.open("http://127.0.0.1:9615", async (key) => {
    const { body: { daemon, ...rest } } = await web.ask("POST", SESSION, { token, body: { key } });
    who = rest;
    return daemon;
  }, async (path) => (await web.ask("GET", path, { token: "" })).body);
  return { session, who };
}

Deno.test("webApp() opens a session with the token's role, which ends with the token", async () => {
  await using web = new FakeWeb();
  const { token } = await web.tokens.create("viewer", { role: "read" });
  const { session, who } = await byToken(web, token);
  assertEquals(who, { name: "viewer", role: "read", via: "session" });
  const as = (method: string, path: string) => web.askAs(session, method, path);
  assertEquals((await as("GET", SESSION)).body.role, "read");
  assertEquals((await as("GET", "/api/v1/processes")).status, 200);
  assertEquals((await as("POST", "/api/v1/processes/api/restart")).status, 403);
  assertEquals((await web.askAs(session, "POST", SESSION, { key: session.id })).status, 400);
  web.tokens.revoke("viewer");
  await web.tokens.create("viewer", { role: "admin" });
  assertEquals((await as("GET", SESSION)).status, 401);
});

Deno.test("webApp() opens a session for the daemon's own token, and none for a wrong one", async () => {
  await using web = new FakeWeb();
  const { session, who } = await byToken(web, TOKEN);
  assertEquals(who, { name: "dashboard", role: "admin", via: "session" });
  assertEquals((await web.askAs(session, "GET", SESSION)).status, 200);
  for (const token of ["ps_00", ""]) {
    const { status } = await web.ask("POST", SESSION, { token, body: { key: session.id } });
    assertEquals(status, 401);
  }
});

Deno.test("an expired session closes its WebSockets and streams, and leaves no timer", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const server = web.listen();
  const url = `http://127.0.0.1:${server.address.port}`;
  const session = await signIn(url, { token: TOKEN });
  const open = async () => {
    const feed = await session.socket();
    await waitFor(() => feed.of("process_list").length > 0, { what: "the feed to begin" });
    return feed;
  };
  using feed = await open();
  const early = await open();
  const events = await session.fetch("/api/v1/events");
  assertEquals(clock.pending, 3);
  early[Symbol.dispose]();
  await waitFor(() => clock.pending === 2, { what: "the timer of what ended earlier to go" });
  clock.advance(SESSION_MS);
  assertEquals([clock.pending, feed.closed], [2, undefined]);
  // A clock that is set back lengthens the session.
  clock.jump(-60_000);
  clock.advance(60_000);
  assertEquals([clock.pending, feed.closed], [2, undefined]);
  clock.advance(1);
  await waitFor(() => feed.closed !== undefined, { what: "the WebSocket to be closed" });
  assertEquals(feed.closed, 1008);
  const last = { error: "The session has ended", code: "unauthorized" };
  assertEquals(await events.json(), last);
  assertEquals(clock.pending, 0);
  await server.close();
});

Deno.test("a tab's key stays with its account, and a new sign-in ends what the earlier one opened", async () => {
  await using web = new FakeWeb();
  const server = web.listen();
  const url = `http://127.0.0.1:${server.address.port}`;
  const { token } = await web.tokens.create("viewer", { role: "read" });
  const session = await signIn(url, { token: TOKEN });
  using feed = await session.socket();
  await waitFor(() => feed.of("process_list").length > 0);
  const again = (token: string) => web.ask("POST", SESSION, { token, body: { key: session.id } });
  const refused = await again(token);
  assertEquals(
    [refused.status, refused.body.error],
    [400, 'Invalid "key": it has a session of another account'],
  );
  assertEquals(feed.closed, undefined);
  assertEquals((await again(TOKEN)).status, 201);
  await waitFor(() => feed.closed !== undefined, {
    what: "the earlier session's feed to be closed",
  });
  await server.close();
});

Deno.test("the answer without a valid token sends nobody to the owner's token", async () => {
  await using web = new FakeWeb();
  const { status, body } = await web.ask("GET", "/api/v1/processes", { token: "ps_00" });
  assertEquals([status, body.code], [401, "unauthorized"]);
  assertEquals(
    hintOf(body),
    "Ask the owner of the daemon for one: procsup token create <name> --role read",
  );
});
