/** Releases that answer badly, on a socket that is shared with instances that answer well. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";

const SERVER = `
const http = require("http");
process.removeAllListeners("warning");
if (process.env.BAD) console.error("said nothing good");
const answer = (_, response) => {
  response.statusCode = process.env.BAD ? 503 : 200;
  response.end(String(process.pid));
};
http.createServer(answer).listen(Number(process.env.PORT), "127.0.0.1");
`;

for (const overlap of [true, false]) {
  Deno.test(
    `a release that answers 503 is rolled back after its first instance, with overlap ${overlap}`,
    {
      ignore: Deno.build.os !== "linux",
    },
    async () => {
      await using daemon = await TestDaemon.start();
      const port = freePort();
      const entrypoint = `${daemon.home}/server.js`;
      await Deno.writeTextFile(entrypoint, SERVER);
      await daemon.client.call("start", {
        ...{ name: "web", entrypoint, runtime: "node", cwd: "/", instances: 2, overlap },
        ...{ env: { PORT: String(port) }, sockets: [`127.0.0.1:${port}`] },
        ...{ wait_ready: true, listen_timeout: "4s", wait: true },
        health_check: { type: "http", url: `http://127.0.0.1:${port}/` },
      });
      const [first, second] = await daemon.client.call("list");
      const { results, rolled_back } = await daemon.client.call("rolling_reload", {
        target: "web",
        rollback_on_failure: true,
        config: { env: { PORT: String(port), BAD: "1" } },
      });
      assert(rolled_back);
      assertStringIncludes(
        results[0]!.error!,
        "not ready within 4s: waited for its http health check",
      );
      const { events } = await daemon.client.call("events", { target: "all" });
      const told = events.filter(({ type }) => type.startsWith("release"));
      assertEquals(told.map(({ name, type }) => [name, type]), [["web:0", "release_failed"]]);
      assertMatch(told[0]!.reason, /^rolled back: .*not ready within 4s.*\nsaid nothing good$/);
      const { stdout } = await daemon.cli("why", "web:1");
      assertMatch(stdout, /last release: env.BAD, by owner at [\d:]+: rolled back after \d+s\n/);
      assertMatch(stdout, /\n +web:0: .*not ready within 4s: .*\n +said nothing good\n/);
      const releases = await daemon.client.call("releases", { target: "web" });
      assertEquals(releases.map(({ app, result, undoes }) => [app, result, undoes]), [
        ["web", "rolled_back", undefined],
        ["web", "done", releases[0]!.generation],
      ]);
      const after = await daemon.client.call("list");
      assertEquals(after.map(({ state, health }) => [state, health]), [
        ["running", "healthy"],
        ["running", "healthy"],
      ]);
      assertEquals(after[1]!.pid, second!.pid);
      assertEquals(after[0]!.pid === first!.pid, overlap);
      assertEquals(after.map(({ restarts }) => restarts), [0, 0]);
      for (let n = 0; n < 20; n++) {
        const response = await fetch(`http://127.0.0.1:${port}/`);
        assertEquals(response.status, 200, await response.text());
      }
    },
  );
}

Deno.test("a rollback that fails is a failure of the instance that it leaves down, and goes no further", async () => {
  await using daemon = await TestDaemon.start();
  // The fourth launch fails, and all later ones: the second of the release, and the rollback.
  const launches = `${daemon.home}/launches`;
  const program =
    `echo >>"${launches}"; [ "$(wc -l <"${launches}")" -le 3 ] && exec sleep 1000; exit 1`;
  await daemon.client.call("start", {
    ...{ name: "web", entrypoint: "/bin/sh", args: ["-c", program], cwd: "/", instances: 2 },
    ...{ min_uptime: "100ms", restart_delay: "1h", wait: true },
  });
  const { results, status } = await daemon.client.call("rolling_reload", {
    target: "web",
    rollback_on_failure: true,
    config: { env: { NEW: "1" } },
  });
  // The first one goes on to serve: the old configuration would not come up either.
  assertEquals([status, results.map(({ ok }) => ok)], ["failed", [true, false]]);
  assertStringIncludes(results[1]!.error!, "exited with code 1");
  const { events } = await daemon.client.call("events", { type: "release_failed" });
  assertEquals(events.map(({ name, reason }) => [name, reason]), [
    ["web:1", "failed: exited with code 1; its rollback failed: exited with code 1"],
  ]);
});
