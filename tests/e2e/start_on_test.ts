/** Apps that their first client starts, and that stop when nobody uses them. */

import { fromFileUrl } from "@std/path";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { sleep } from "../../src/platform/clock.ts";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const PYTHON_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/server.py"));

async function answer(port: number): Promise<string> {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  try {
    const response = await fetch(`http://127.0.0.1:${port}`, { client });
    return await response.text();
  } finally {
    client.close();
  }
}

async function states(daemon: TestDaemon): Promise<string[]> {
  return (await daemon.client.call("list")).map(({ state }) => state);
}

Deno.test(
  "the first client starts an app and is served; without clients it stops; over a killed daemon",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    const port = freePort();
    const started = await daemon.cli(
      ...["start", PYTHON_SERVER, "--name", "web", "--socket", `127.0.0.1:${port}`],
      ...["--start-on", "connection", "--idle-timeout", "1s"],
    );
    assertEquals(started.code, 0, started.stderr);
    assertEquals((await daemon.status("web")).last_reason, "waiting for a connection");
    assertEquals(await states(daemon), ["waiting"]);

    const pids = new Set<string>();
    for (const isKilled of [false, false, true]) {
      if (isKilled) {
        await daemon.kill();
        // Nobody holds the socket meanwhile.
        await assertRejects(() => answer(port));
        await daemon.run();
      }
      pids.add(await answer(port));
      // Connected, but silent: on a busy machine the app may have stopped since its answer.
      const client = await Deno.connect({ hostname: "127.0.0.1", port });
      await waitFor(async () => (await states(daemon))[0] === "running");
      const { last_reason } = await daemon.status("web");
      assertEquals(last_reason, `started by a connection to 127.0.0.1:${port}`);
      // Longer than its idle_timeout.
      await sleep(1500);
      assertEquals(await states(daemon), ["running"]);
      client.close();
      await waitFor(async () => (await states(daemon))[0] === "waiting", { timeoutMs: 120_000 });
      const { last_reason: why } = await daemon.status("web");
      assertEquals(why, "no connection for 1s; waiting for a connection");
    }
    assertEquals(pids.size, 3);
    const { stdout } = await daemon.cli("events", "web", "--since", "1h", "-o", "jsonl");
    assertStringIncludes(stdout, '"cause":"idle"');

    await daemon.client.call("stop", "web");
    await assertRejects(() => answer(port));
    assertEquals(await states(daemon), ["stopped"]);
  },
);

Deno.test("clients do not start a failing app again and again: once it is errored they are refused", async () => {
  const ports: number[] = [];
  for (const [name, script] of [["web", "exit 1"], ["quits", "exit 0"]] as const) {
    const port = freePort();
    ports.push(port);
    await daemon.startScript(name, script, {
      ...{ sockets: [`127.0.0.1:${port}`], start_on: "connection" },
      ...{ max_restarts: 2, restart_delay: "1ms" },
    });
  }
  const clients = await Promise.all(
    ports.map((port) => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  await waitFor(async () => (await states(daemon)).every((state) => state === "errored"));
  for (const port of ports) {
    await assertRejects(() => Deno.connect({ hostname: "127.0.0.1", port }));
  }
  for (const client of clients) client.close();
  for (const name of ["web", "quits"]) {
    assertStringIncludes((await daemon.status(name)).last_reason, "2 restarts used up");
  }
});

Deno.test("a socket that cannot be opened is an error at once, and so is start_on without one", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${listener.addr.port}`;
  await daemon.startScript("web", "exit 0", { sockets: [address], start_on: "connection" })
    .catch(() => {});
  await waitFor(async () => (await states(daemon))[0] === "errored");
  assertStringIncludes((await daemon.status("web")).last_reason, "in use by another process");
  for (
    const [keys, why] of [
      [{ start_on: "connection" }, "needs sockets"],
      [{ idle_timeout: "1m" }, "idle_timeout needs start_on"],
    ] as const
  ) {
    await assertRejects(() => daemon.startScript("other", "exit 0", keys), Error, why);
  }
});
