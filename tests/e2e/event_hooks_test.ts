/** The hooks of events of a real daemon, with real crashes, also while no daemon runs. */

import { assertEquals, assertMatch } from "@std/assert";
import type { EventBody } from "../../src/model/event_body.ts";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** What the hooks have written to a file, once there is something. */
async function written(path: string): Promise<readonly EventBody[]> {
  const lines = () => (readFileIfAny(path) ?? "").split("\n").slice(0, -1);
  await waitFor(() => lines().length > 0, { what: path });
  return lines().map((line) => JSON.parse(line));
}

Deno.test("on_crash, on_errored and on_unhealthy get the event, as webhooks do, on standard input", async () => {
  const { home } = daemon;
  const cat = (name: string) => `cat >>${home}/${name}`;
  await daemon.startScript("flaky", "echo 'Error: boom \\' >&2; exit 3", {
    restart_policy: "never",
    namespace: "shop",
    hooks: { on_crash: cat("crash"), on_errored: cat("none"), on_alert: cat("none") },
  }).catch(() => {});
  const [crash] = await written(`${home}/crash`);
  const { id } = await daemon.status("flaky");
  const { last_exit, ...process } = crash!.data.process!;
  assertEquals([crash!.type, crash!.data.host, crash!.data.link], ["crash", Deno.hostname(), null]);
  assertEquals(process, {
    ...{ name: "flaky", id, namespace: "shop", state: "crashed", pid: 0, restarts: 0 },
    reason: "exited with code 3",
  });
  assertEquals([last_exit!.code, crash!.data.error_line], [3, "Error: boom \\"]);

  await daemon.startScript("gone", "exit 1", {
    max_restarts: 0,
    hooks: { on_errored: cat("errored") },
  }).catch(() => {});
  assertEquals((await written(`${home}/errored`))[0]!.data.process!.name, "gone");

  await daemon.startScript("ill", "exec sleep 1000", {
    health_check: { type: "command", command: "exit 1", interval: "30ms", retries: 1 },
    hooks: { on_unhealthy: cat("unhealthy") },
  });
  const [unhealthy] = await written(`${home}/unhealthy`);
  assertEquals(unhealthy!.data.process!.reason, "check ended with code 1");

  await daemon.startScript("sour", "exit 1", {
    restart_policy: "never",
    // Each variable of the app is the hook's, whatever its name.
    env: { input: "no room" },
    hooks: { on_crash: 'echo "$input" >&2; exit 5' },
  }).catch(() => {});
  const notes = async () =>
    (await daemon.client.call("events", { target: "sour", type: "note" })).events;
  await waitFor(async () => (await notes()).length > 0, { what: "the failure of the hook" });
  assertEquals((await notes())[0]!.reason, "on_crash hook failed with exit code 5: no room");
  const { hooks } = await daemon.client.call("history", { target: "sour" });
  assertEquals(hooks.map(({ hook, exit_code }) => [hook, exit_code]), [["on_crash", 5]]);
});

Deno.test("on_crash runs under the next daemon for a crash while none ran", async () => {
  const { home } = daemon;
  await daemon.startScript("late", `while [ ! -e ${home}/gate ]; do sleep 0.1; done; exit 42`, {
    restart_policy: "never",
    hooks: { on_crash: `cat >>${home}/crash` },
  });
  const { pid } = await daemon.status("late");
  await daemon.kill();
  Deno.writeTextFileSync(`${home}/gate`, "");
  await waitFor(() => !isAlive(pid), { what: "the crash" });
  await daemon.run();
  const crashes = await written(`${home}/crash`);
  assertEquals(crashes.map(({ data }) => data.process!.last_exit!.code), [42]);
});

Deno.test("the library runs hooks of events without a listener, one after the other", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exit 7", {
    restart_policy: "on-failure",
    max_restarts: 2,
    restart_delay: "1ms",
    hooks: { on_crash: "cat >>crashes; sleep 0.05; echo over >>crashes" },
  }).catch(() => {});
  await waitFor(() => test.lines("crashes").length >= 4, { what: "two runs of the hook" });
  const [first, second] = test.lines("crashes");
  assertMatch(first!, /^\{"type":"crash"/);
  assertEquals(second, "over");
});
