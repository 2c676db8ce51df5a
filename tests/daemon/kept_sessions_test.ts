import { assertEquals } from "@std/assert";
import { keepSessions, takeSessions } from "../../src/daemon/kept_sessions.ts";
import { SESSION_MS, Sessions } from "../../src/auth/sessions.ts";
import { tempHome } from "../support/temp_home.ts";

const OWNER = { name: "dashboard", role: "admin" } as const;

Deno.test("takeSessions() signs in at the next daemon, once, whoever was signed in", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  const before = new Sessions();
  const session = before.open(OWNER);
  keepSessions(path, before);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);

  const after = new Sessions();
  takeSessions(path, after);
  assertEquals(after.ownerOf(session), OWNER);
  assertEquals([...Deno.readDirSync(temp.path)], []);
  const later = new Sessions();
  takeSessions(path, later);
  assertEquals(later.ownerOf(session), undefined);
});

Deno.test("takeSessions() lets sessions end when they would have ended", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  const before = new Sessions(() => 0);
  const session = before.open(OWNER);
  keepSessions(path, before);
  const after = new Sessions(() => SESSION_MS + 1);
  takeSessions(path, after);
  assertEquals(after.ownerOf(session), undefined);
});

Deno.test("takeSessions() passes over what is not readable", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  Deno.writeTextFileSync(path, "[{");
  takeSessions(path, new Sessions());
  assertEquals([...Deno.readDirSync(temp.path)], []);
});
