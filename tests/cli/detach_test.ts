import { assertEquals } from "@std/assert";
import { daemonCommand } from "../../src/cli/detach.ts";

Deno.test("daemonCommand() runs the main module again", () => {
  assertEquals(daemonCommand("/h", false, "file:///opt/my%20app/main.ts"), [
    "run",
    "-A",
    "/opt/my app/main.ts",
    "daemon",
    "--home",
    "/h",
  ]);
});

Deno.test("daemonCommand() runs a compiled executable as it is", () => {
  assertEquals(daemonCommand("/h", true, "file:///tmp/x/main.ts"), ["daemon", "--home", "/h"]);
});
