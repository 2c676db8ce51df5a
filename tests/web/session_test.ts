/** Signing in by a token, for people who have no link. */

import { assertEquals, assertMatch } from "@std/assert";
import { FakeWeb } from "./fake_backend.ts";

const SESSION = "/api/v1/session";
const FROM_PAGE = { origin: "http://127.0.0.1:9615", "content-type": "application/json" };

/** The `Cookie` header that a `Set-Cookie` asks for. */
function cookieOf(headers: Headers): string {
  const set = headers.get("set-cookie") ?? "";
  assertMatch(set, /HttpOnly; SameSite=Strict/);
  return set.split(";")[0]!;
}

Deno.test("webApp() opens a session of a token's role, which ends with the token", async () => {
  await using web = new FakeWeb();
  const { token } = await web.tokens.create("viewer", "read");
  const opened = await web.ask("POST", SESSION, { token });
  assertEquals([opened.status, opened.body], [201, {
    name: "viewer",
    role: "read",
    via: "cookie",
  }]);
  const cookie = cookieOf(opened.headers);
  const as = (method: string, path: string) =>
    web.ask(method, path, { token: "", headers: { ...FROM_PAGE, cookie } });
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
  const { body, headers } = await web.ask("POST", SESSION);
  assertEquals(body, { name: "dashboard", role: "admin", via: "cookie" });
  const cookie = cookieOf(headers);
  assertEquals((await web.ask("GET", SESSION, { token: "", headers: { cookie } })).status, 200);
  assertEquals((await web.ask("POST", SESSION, { token: "ps_00" })).status, 401);
  assertEquals((await web.ask("POST", SESSION, { token: "" })).status, 401);
});

Deno.test("webApp() leads who opens a used link to the sign-in page, and programs to an error", async () => {
  await using web = new FakeWeb();
  const open = (accept: string) =>
    web.ask("GET", "/login?code=00", { token: "", headers: { accept } });
  const page = await open("text/html,*/*");
  assertEquals([page.status, page.headers.get("location")], [303, "/#/?failed=link"]);
  assertEquals(page.headers.get("set-cookie"), null);
  const json = await open("application/json");
  assertEquals([json.status, json.body.code], [401, "unauthorized"]);
  const plain = await open("*/*");
  assertEquals([plain.status, plain.headers.get("content-type")], [
    401,
    "text/html; charset=utf-8",
  ]);
  assertMatch(plain.body, /procsup web open/);
  assertMatch(plain.headers.get("content-security-policy")!, /^default-src 'none';/);
});
