/** Commands that print secrets take their time, and nobody else's. */

import { assert, assertEquals } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("the daemon answers others while a command prints a secret, and stops who waits for it", async () => {
  await using daemon = await TestDaemon.start();
  const gate = `${daemon.home}/gate`;
  const command = `while [ ! -e ${gate} ]; do sleep 0.02; done; echo s3cret`;
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
  // The next daemon knows nothing of it: its restart fetches it anew, and a stop does not wait for it.
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
  Deno.writeTextFileSync(gate, "");
});
