/** Commands that print secrets may be slow without blocking the daemon. */

import { assert, assertEquals } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

Deno.test("the daemon answers while a command prints a secret, and can stop the app that waits for it", async () => {
  const gate = `${daemon.home}/gate`;
  const command = `while [ ! -e ${gate} ]; do sleep 0.1; done; echo s3cret`;
  let isUp = false;
  const start = daemon.startScript("app", 'echo "got $KEY"; exec sleep 1000', {
    secrets: { KEY: { command } },
  }).then(() => isUp = true);
  for (let i = 0; i < 5; i++) assertEquals(await daemon.client.call("list"), []);
  assert(!isUp);
  Deno.writeTextFileSync(gate, "");
  await start;
  const log = `${daemon.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.readTextFileSync(log) === "got s3cret\n");
  // The next daemon's restart runs the command again, and a stop terminates it.
  await daemon.kill();
  Deno.removeSync(gate);
  await daemon.run();
  const { pid } = await daemon.status("app");
  const restart = daemon.client.call("restart", "app");
  await waitFor(async () => (await daemon.status("app")).state === "starting");
  assert(pid > 0);
  await daemon.client.call("stop", { target: "app" });
  assertEquals((await daemon.status("app")).state, "stopped");
  await restart;
  await waitFor(() => processesWith(gate) === 0, {
    what: "the command to end with its last waiter",
  });
});

Deno.test("a command shared by two starts continues when one of them is stopped", async () => {
  const gate = `${daemon.home}/gate`;
  const secrets = {
    KEY: { command: `while [ ! -e ${gate} ]; do sleep 0.1; done; echo s3cret` },
  };
  const body = 'echo "got $KEY"; exec sleep 1000';
  Deno.writeTextFileSync(gate, "");
  for (const name of ["one", "two"]) await daemon.startScript(name, body, { cwd: "/", secrets });
  await daemon.kill();
  Deno.removeSync(gate);
  await daemon.run();
  const restarts = ["one", "two"].map((name) => daemon.client.call("restart", name));
  await waitFor(async () =>
    (await daemon.client.call("list")).every(({ state }) => state === "starting") &&
    processesWith(gate) === 1
  );
  await daemon.client.call("stop", { target: "one" });
  // The loop's `sleep` has the command line of its shell until it is executed.
  await waitFor(() => processesWith(gate) === 1, { what: "one command" });
  Deno.writeTextFileSync(gate, "");
  await Promise.all(restarts);
  assertEquals((await daemon.status("two")).state, "running");
});

/** The number of processes with this word in their command line. */
function processesWith(word: string): number {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(word);
    } catch {
      return false;
    }
  }).length;
}
