/**
 * Rolling reloads under load: three good ones with a killed daemon, and a release that never
 * becomes ready.
 */

import { fromFileUrl } from "@std/path";
import { assert, assertEquals } from "@std/assert";
import { freePort, startLoad } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const NODE_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/server.js"));
const PYTHON_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/server.py"));
const INSTANCES = 4;

const APPS = {
  "an unmodified Node app": (port: number) => ({
    entrypoint: NODE_SERVER,
    runtime: "node",
    env: { PORT: String(port), RELEASE: "old" },
    ready_log: "listening",
  }),
  "a Python app": (port: number) => ({
    entrypoint: PYTHON_SERVER,
    runtime: "python",
    env: { PORT: String(port), RELEASE: "old", PYTHONUNBUFFERED: "1" },
    min_uptime: "200ms",
  }),
};

for (const [what, app] of Object.entries(APPS)) {
  Deno.test(`rolling_reload of ${what} fails no request, and restores the old release`, async () => {
    await using daemon = await TestDaemon.start();
    const port = freePort();
    const config = { name: "web", cwd: "/", instances: INSTANCES, sockets: [`127.0.0.1:${port}`] };
    await daemon.client.call("start", { ...config, ...app(port), wait: true });
    const load = startLoad(port);
    for (const batch_size of [1, 2, "75%"]) {
      const before = await pids(daemon);
      const { results } = await daemon.client.call("rolling_reload", { target: "web", batch_size });
      assertEquals(results.map(({ ok }) => ok), Array(INSTANCES).fill(true));
      assertEquals((await pids(daemon)).filter((pid) => before.includes(pid)), []);
    }
    await daemon.kill();
    const answered = load.answered;
    await waitFor(() => load.answered > answered + 100, { what: "answers without a daemon" });
    await daemon.run();

    const { rolled_back, results } = await daemon.client.call("reconfigure", {
      target: "web",
      rollback_on_failure: true,
      config: {
        env: { ...app(port).env, RELEASE: "new" },
        ready_log: "never written",
        listen_timeout: "500ms",
      },
    });
    assert(rolled_back);
    assert(results.some(({ ok }) => !ok));
    await waitFor(async () => (await releases(daemon)).every((release) => release === "old"), {
      what: "the old release on every instance",
    });
    const { requests, failures } = await load.stop();
    assertEquals(failures, [], `of ${requests} requests`);
  });
}

async function pids(daemon: TestDaemon): Promise<number[]> {
  return (await daemon.client.call("list")).map(({ pid }) => pid);
}

/** The release of each running app, from its environment. */
async function releases(daemon: TestDaemon): Promise<(string | undefined)[]> {
  const list = await daemon.client.call("list");
  return list.map(({ pid, state }) => {
    if (state !== "running") return undefined;
    const environ = Deno.readTextFileSync(`/proc/${pid}/environ`);
    return /(?:^|\0)RELEASE=([^\0]*)/.exec(environ)?.[1];
  });
}
