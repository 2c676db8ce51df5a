/** Signing in by a token, for people who have no link. */

import { assertEquals, assertMatch } from "@std/assert";
import { SECRET_HEADER } from "../../src/auth/sessions.ts";
import { type Asked, FakeWeb } from "./fake_backend.ts";

const SESSION = "/api/v1/session";

/** The headers of a browser that was answered like this. */
function headersOf({ headers, body }: Asked): Record<string, string> {
  const set = headers.get("set-cookie") ?? "";
  assertMatch(set, /; HttpOnly; .*SameSite=Strict/);
  return { cookie: set.split(";")[0]!, [SECRET_HEADER]: body.secret };
}

Deno.test("webApp() opens a session of a token's role, which ends with the token", async () => {
  await using web = new FakeWeb();
  const { token } = await web.tokens.create("viewer", "read");
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
  await web.tokens.create("viewer", "admin");
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
