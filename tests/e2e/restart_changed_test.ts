/** `restart` with flags changes the configuration. */

import { assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { cliIn, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const SAYS = 'echo "A=$A B=$B"; [ "$A" != bad ] || exit 3; exec sleep 1000';

/** Waits until the app was started so many times, and checks what it said last. */
async function says(
  daemon: TestDaemon,
  target: string,
  starts: number,
  line: string,
): Promise<void> {
  let lines: string[] = [];
  await waitFor(async () => {
    lines = (await daemon.client.call("logs", { target, lines: 100 })).logs.split("\n");
    return lines.length > starts;
  }, { what: `start ${starts} of "${target}"` });
  assertEquals(lines.slice(starts - 1), [line, ""]);
}

Deno.test("restart changes only the keys that its flags name, on every instance", async () => {
  const env = { A: "1", B: "2" };
  await daemon.startScript("app", SAYS, { instances: 2, env, min_uptime: "50ms" });
  await daemon.startScript("other", "exec sleep 1000");
  const before = await daemon.client.call("list");
  // One is down, and starts with the others.
  await daemon.client.call("stop", { target: "app:1" });
  const { code, stdout } = await daemon.cli("restart", "app", "-e", "A=x y", "--max-restarts", "3");
  assertEquals([code, stdout.match(/✔ app:[01] {2}running/g)?.length], [0, 2]);
  const after = await daemon.client.call("list");
  assertEquals(after.map(({ config }) => config.max_restarts), [3, 3, 10]);
  assertEquals(after[2]!.pid, before[2]!.pid);
  await says(daemon, "app:0", 2, "A=x y B=2");
  await says(daemon, "app:1", 2, "A=x y B=2");
});

Deno.test("restart with a change to a live key still starts a new run", async () => {
  await daemon.startScript("app", "exec sleep 1000", { min_uptime: "50ms" });
  const { pid } = await daemon.client.call("status", "app");
  const { code } = await daemon.cli("restart", "app", "--stop-timeout", "7s", "-o", "json");
  const after = await daemon.client.call("status", "app");
  assertEquals([code, after.config.stop_timeout], [0, "7s"]);
  assertNotEquals(after.pid, pid);
});

Deno.test("restart restores the old configuration when the new one fails to start", async () => {
  await daemon.startScript("app", SAYS, { env: { A: "1" }, min_uptime: "2s", max_restarts: 0 });
  const { code, stderr } = await daemon.cli("restart", "app", "-e", "A=bad");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "app: the old configuration is on all of them again");
  assertStringIncludes(stderr, '✘ app  Cannot start "app": exited with code 3');
  await says(daemon, "app", 3, "A=1 B=");
  const wrong = await daemon.cli("restart", "app", "--stop-timeout", "4x");
  assertEquals([wrong.code, wrong.stderr.includes('"4x"')], [2, true]);
});

Deno.test("start uses its shell's environment and shows no value; restart --update-env replaces it", async () => {
  const folder = `${daemon.home}/bin`;
  await Deno.mkdir(folder);
  const script = '#!/bin/sh\necho "A=$A B=$B"\nexec sleep 1000\n';
  await Deno.writeTextFile(`${folder}/own-program`, script, { mode: 0o755 });
  const PATH = `${folder}:${Deno.env.get("PATH")}`;
  const words = ["--min-uptime", "50ms", "--name", "app", "--", "own-program"];
  const started = await cliIn(daemon.home, { PATH, A: "hidden-a", B: "2" }, "start", ...words);
  assertEquals(started.code, 0);
  assertMatch(started.stderr, /^from this shell: A, B, .*PATH\n$/);
  await says(daemon, "app", 1, "A=hidden-a B=2");
  // Another shell's environment is used only on request.
  await cliIn(daemon.home, { PATH, A: "hidden-c" }, "restart", "app");
  await says(daemon, "app", 2, "A=hidden-a B=2");
  const updated = await cliIn(
    daemon.home,
    { PATH, A: "hidden-c" },
    "restart",
    "app",
    "--update-env",
  );
  assertEquals(updated.code, 0);
  await says(daemon, "app", 3, "A=hidden-c B=");
  const shown = await Promise.all([
    daemon.cli("status", "app", "-o", "json"),
    daemon.cli("list", "-o", "json"),
    daemon.cli("events", "app", "--since", "1h", "-o", "json"),
  ]);
  for (const { code, stdout } of shown) assertEquals([code, stdout.includes("hidden")], [0, false]);
});
