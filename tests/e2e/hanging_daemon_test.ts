import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";

/** Each of these would wait forever without a liveness check. */
const COMMANDS = [
  ["list"],
  ["ping"],
  ["start", "--name", "late", "--", "sleep", "1000"],
  ["stop", "app", "another"],
  ["logs", "app", "--follow"],
  ["wait", "app", "--for", "exit"],
  ["daemon", "--detach"],
  ["upgrade"],
  ["list", "--watch"],
];

Deno.test("every command reports which daemon hangs, and what to do", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.startScript("app", "sleep 1000");
  Deno.kill(daemon.pid, "SIGSTOP");
  try {
    const told = await Promise.all(COMMANDS.map((words) => daemon.cli(...words)));
    for (const [index, { code, stdout, stderr }] of told.entries()) {
      const which = COMMANDS[index]!.join(" ");
      assertEquals([which, code, stdout], [which, 5, ""]);
      const what = `error: The daemon of home "${daemon.home}" (pid ${daemon.pid}) does not answer`;
      const hint = `  hint: procsup doctor --home ${daemon.home}`;
      // Reported once, however many processes were to be stopped.
      assertEquals(stderr, `${what}\n${hint}\n  more: procsup help faults\n`, which);
    }
  } finally {
    Deno.kill(daemon.pid, "SIGCONT");
  }
  assertStringIncludes((await daemon.cli("list")).stdout, "app");
});
