import { assertEquals } from "@std/assert";
import { typedHome } from "../../src/cli/commands/completion.ts";

Deno.test("typedHome() returns the last complete --home", () => {
  assertEquals(typedHome(["stop", "--home", "/a"], "/me"), "/a");
  assertEquals(typedHome(["--home=/a", "stop", "--home", "/b"], "/me"), "/b");
  assertEquals(typedHome(["stop", "--home"], "/me"), undefined);
  assertEquals(typedHome(["stop", "api"], "/me"), undefined);
});

Deno.test("typedHome() reads quotes, backslashes and ~ as the shell would", () => {
  assertEquals(typedHome(["--home", "~/x"], "/me"), "/me/x");
  assertEquals(typedHome(["--home=~"], "/me"), "/me");
  assertEquals(typedHome(["--home", '"~/x"'], "/me"), "~/x");
  assertEquals(typedHome(["--home", "/a\\ b"], "/me"), "/a b");
});
