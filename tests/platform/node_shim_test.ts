import { assertEquals } from "@std/assert";
import { withoutNodeShim } from "../../src/platform/inherited_environment.ts";

Deno.test("withoutNodeShim() removes Deno's own node from the search path", () => {
  const PATH = "/home/me/.cache/deno/node_compat_bin:/usr/bin:/bin";
  const env = { PATH, DENO_NODE_SHIM_ACTIVE: "1", LANG: "C" };
  assertEquals(withoutNodeShim(env), { PATH: "/usr/bin:/bin", LANG: "C" });
});

Deno.test("withoutNodeShim() leaves any other environment alone", () => {
  const env = { PATH: "/opt/node_compat_bin:/bin", LANG: "C" };
  assertEquals(withoutNodeShim(env), env);
});
