import { assertEquals } from "@std/assert";
import { isNewer } from "../../src/protocol/version.ts";

Deno.test("isNewer() compares numerically, not as text", () => {
  assertEquals(isNewer("0.10.0", "0.9.9"), true);
  assertEquals(isNewer("0.9.9", "0.10.0"), false);
  assertEquals(isNewer("1.0.0", "0.99.99"), true);
  assertEquals(isNewer("v1.2.4", "1.2.3"), true);
});

Deno.test("isNewer() is false for equal versions with any suffix, and for invalid versions", () => {
  assertEquals(isNewer("1.2.3", "1.2.3"), false);
  assertEquals(isNewer("1.2.3-rc.1", "1.2.3"), false);
  assertEquals(isNewer("1.2", "1.2.0"), false);
  assertEquals(isNewer("dev", "0.1.0"), false);
});
