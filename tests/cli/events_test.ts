import { assertEquals } from "@std/assert";
import { FakeDaemon } from "./fake_daemon.ts";

Deno.test("procsup events prints what happened, and not only the resulting state", async () => {
  const at = "2026-01-02T03:04:05.000Z";
  await using daemon = new FakeDaemon({}, [
    { type: "added", at, name: "api", state: "stopped", reason: "" },
    { type: "crashed", at, name: "api", state: "waiting", reason: "exited with code 3" },
    { type: "deleted", at, name: "api", state: "stopped", reason: "" },
    // After it the daemon is gone for good, so the command does not wait for it.
    { type: "shutdown", at },
  ]);
  const { stdout } = await daemon.run("events", "-f", "-n", "0");
  assertEquals(stdout.trimEnd().split("\n").map((line) => line.split("  ").slice(1)), [
    ["api", "added"],
    ["api", "crashed", "exited with code 3"],
    ["api", "deleted"],
  ]);
});

Deno.test("procsup events and logs reject formats without lines", async () => {
  await using daemon = new FakeDaemon({});
  for (const [command, format] of [["events", "yaml"], ["logs", "name"]] as const) {
    const { code, stderr } = await daemon.run(command, "-o", format);
    const hint = `  hint: procsup ${command} -o jsonl`;
    assertEquals([code, stderr.split("\n")[1]], [2, hint]);
  }
  assertEquals(daemon.streams, []);
});
