import { assertEquals, assertNotEquals } from "@std/assert";
import { sessionKeyring, withOwnKeyring } from "../../src/platform/users/keyring.ts";

Deno.test("withOwnKeyring() starts each program of another user with a keyring of its own", {
  // Containers often lack the system call.
  ignore: Deno.build.os !== "linux" || sessionKeyring() <= 0n,
}, () => {
  const started = () => withOwnKeyring({ uid: 1000 }, sessionKeyring);
  const before = sessionKeyring();
  const [one, other] = [started(), started()];
  assertEquals(new Set([before, one, other, sessionKeyring()]).size, 4);
  assertNotEquals(one, 0n);
  const now = sessionKeyring();
  assertEquals(withOwnKeyring(undefined, sessionKeyring), now);
});
