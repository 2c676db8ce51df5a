import { assertEquals } from "@std/assert";
import { keepSessions, restoreSessions } from "../../src/daemon/web_listener.ts";
import { SESSION_MS, Sessions } from "../../src/auth/sessions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { tempHome } from "../support/temp_home.ts";

const OWNER = { name: "dashboard", role: "admin" } as const;

/** Sessions that are saved at each change, as the daemon does. */
function kept(path: string, now = Date.now): Sessions {
  const sessions: Sessions = new Sessions(
    { ...systemClock, now },
    () => keepSessions(path, sessions),
  );
  restoreSessions(path, sessions);
  return sessions;
}

Deno.test("a session survives killed daemons until it is ended", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  const keys = kept(path).open(OWNER);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  assertEquals(kept(path).ownerOf(keys), OWNER);

  const later = kept(path);
  assertEquals(later.ownerOf(keys), OWNER);
  later.signOut(keys.session);
  assertEquals(kept(path).ownerOf(keys), undefined);
  assertEquals([...Deno.readDirSync(temp.path)], []);
});

Deno.test("restoreSessions() keeps the expiry time of each session", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  const keys = kept(path, () => 0).open(OWNER);
  assertEquals(kept(path, () => SESSION_MS + 1).ownerOf(keys), undefined);
});

Deno.test("restoreSessions() ignores a damaged file", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  Deno.writeTextFileSync(path, "[{");
  restoreSessions(path, new Sessions());
  assertEquals([...Deno.readDirSync(temp.path)], []);
});
