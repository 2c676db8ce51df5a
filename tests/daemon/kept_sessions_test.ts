import { assertEquals, assertNotEquals } from "@std/assert";
import { DaemonKey } from "../../src/auth/daemon_key.ts";
import { newKeyPair, publicText } from "../../src/protocol/session_signature.ts";
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
  const tab = await publicText(await newKeyPair());
  await kept(path).open(OWNER, tab);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  assertEquals(kept(path).owner(tab), OWNER);

  const later = kept(path);
  assertEquals(later.owner(tab), OWNER);
  later.signOut(tab);
  assertEquals(kept(path).owner(tab), undefined);
  assertEquals([...Deno.readDirSync(temp.path)], []);
});

Deno.test("restoreSessions() keeps the expiry time of each session", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  const tab = await publicText(await newKeyPair());
  await kept(path, () => 0).open(OWNER, tab);
  assertEquals(kept(path, () => SESSION_MS + 1).owner(tab), undefined);
});

Deno.test("the next daemon proves itself with the same key, and a damaged one is replaced", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/web_key.json`;
  const first = await new DaemonKey(path).publicText();
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  assertEquals(await new DaemonKey(path).publicText(), first);
  Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace('"d":"', '"d":"A'));
  assertNotEquals(await new DaemonKey(path).publicText(), first);
});

Deno.test("restoreSessions() ignores a damaged file", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/sessions.json`;
  Deno.writeTextFileSync(path, "[{");
  restoreSessions(path, new Sessions());
  assertEquals([...Deno.readDirSync(temp.path)], []);
});
