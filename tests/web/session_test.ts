/** Signing in with a token instead of a link. */

import { assertEquals, assertMatch } from "@std/assert";
import { SESSION_MS } from "../../src/auth/sessions.ts";
import { SECRET_HEADER } from "../../src/protocol/version.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { waitFor } from "../support/wait_for.ts";
import { signIn, TestFeed } from "../support/web.ts";
import { type Asked, FakeWeb, TOKEN } from "./fake_backend.ts";

const SESSION = "/api/v1/session";

/** The headers of a browser after that answer. */
function headersOf({ headers, body }: Asked): Record<string, string> {
  const set = headers.get("set-cookie") ?? "";
  assertMatch(set, /; HttpOnly; .*SameSite=Strict/);
  return { cookie: set.split(";")[0]!, [SECRET_HEADER]: body.secret };
}

Deno.test("webApp() opens a session with the token's role, which ends with the token", async () => {
  await using web = new FakeWeb();
  const { token } = await web.tokens.create("viewer", { role: "read" });
  const opened = await web.ask("POST", SESSION, { token });
  const { secret: _, ...who } = opened.body;
  assertEquals([opened.status, who], [201, { name: "viewer", role: "read", via: "cookie" }]);
  const headers = headersOf(opened);
  const as = (method: string, path: string) => web.ask(method, path, { token: "", headers });
  assertEquals((await as("GET", SESSION)).body.role, "read");
  assertEquals((await as("GET", "/api/v1/processes")).status, 200);
  assertEquals((await as("POST", "/api/v1/processes/api/restart")).status, 403);
  assertEquals((await as("POST", SESSION)).status, 400);
  web.tokens.revoke("viewer");
  await web.tokens.create("viewer", { role: "admin" });
  assertEquals((await as("GET", SESSION)).status, 401);
});

Deno.test("webApp() opens a session for the daemon's own token, and none for a wrong one", async () => {
  await using web = new FakeWeb();
  const opened = await web.ask("POST", SESSION);
  const { secret: _, ...who } = opened.body;
  assertEquals(who, { name: "dashboard", role: "admin", via: "cookie" });
  const headers = headersOf(opened);
  assertEquals((await web.ask("GET", SESSION, { token: "", headers })).status, 200);
  assertEquals((await web.ask("POST", SESSION, { token: "ps_00" })).status, 401);
  assertEquals((await web.ask("POST", SESSION, { token: "" })).status, 401);
});

Deno.test("an expired session closes its WebSockets and streams, and leaves no timer", async () => {
  const clock = new FakeClock();
  await using web = new FakeWeb({}, clock);
  const server = web.listen();
  const url = `http://127.0.0.1:${server.address.port}`;
  const headers = await signIn(url, { token: TOKEN });
  const open = async () => {
    const { cookie } = headers;
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
      headers: { cookie: cookie! },
    });
    const feed = new TestFeed(socket);
    await feed.opened;
    feed.send({ type: "session", secret: headers[SECRET_HEADER] });
    await waitFor(() => feed.of("process_list").length > 0, { what: "the feed to begin" });
    return feed;
  };
  using feed = await open();
  const early = await open();
  const events = await fetch(`${url}/api/v1/events`, { headers });
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
