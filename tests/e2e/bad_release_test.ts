/** Releases that answer badly, on a socket that is shared with instances that answer well. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort, request, startLoad } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";

const daemon = TestDaemon.ofFile();

const SERVER = `
const http = require("http");
process.removeAllListeners("warning");
if (process.env.BAD) console.error("said nothing good");
if (process.env.BAD === "exit") process.exit(0);
const answer = (_, response) => {
  response.statusCode = process.env.BAD ? 503 : 200;
  response.end(String(process.pid));
};
http.createServer(answer).listen(Number(process.env.PORT), "127.0.0.1");
`;

/**
 * Starts instances of the server on one socket, each ready when it answers by itself. Releases and
 * events stay known by the name, so each test has its own.
 */
async function serve(
  name: string,
  { instances, overlap = false }: { instances: number; overlap?: boolean },
): Promise<{ port: number }> {
  const port = freePort();
  const entrypoint = `${daemon.home}/server.js`;
  await Deno.writeTextFile(entrypoint, SERVER);
  await daemon.client.call("start", {
    ...{ name, entrypoint, runtime: "node", cwd: "/", instances, overlap },
    ...{ env: { PORT: String(port) }, sockets: [`127.0.0.1:${port}`] },
    ...{ wait_ready: true, listen_timeout: "6s", wait: true },
    health_check: { type: "http", url: `http://127.0.0.1:${port}/` },
  });
  return { port };
}

for (const overlap of [true, false]) {
  Deno.test(
    `a release that answers 503 is rolled back after its first instance, with overlap ${overlap}`,
    {
      ignore: Deno.build.os !== "linux",
    },
    async () => {
      const name = `web-${overlap}`;
      const { port } = await serve(name, { instances: 2, overlap });
      const [first, second] = await daemon.client.call("list");
      const { results, rolled_back } = await daemon.client.call("reconfigure", {
        target: name,
        rollback_on_failure: true,
        config: { env: { PORT: String(port), BAD: "1" } },
      });
      assert(rolled_back);
      assertStringIncludes(
        results[0]!.error!,
        "not ready within 6s: waited for its http health check",
      );
      const { events } = await daemon.client.call("events", { target: name });
      const told = events.filter(({ type }) => type.startsWith("release"));
      assertEquals(told.map(({ name, type }) => [name, type]), [[`${name}:0`, "release_failed"]]);
      assertMatch(told[0]!.reason, /^rolled back: not ready within 6s.*\nsaid nothing good$/);
      const { stdout } = await daemon.cli("why", `${name}:1`);
      assertMatch(stdout, /last release: env.BAD, by owner at [\d:]+: rolled back after \d+s\n/);
      const why = `\\n +${name}:0: not ready within 6s: .*\\n +said nothing good\\n`;
      assertMatch(stdout, new RegExp(why));
      const releases = await daemon.client.call("releases", { target: name });
      assertEquals(releases.map(({ app, result, undoes }) => [app, result, undoes]), [
        [name, "rolled_back", undefined],
        [name, "done", releases[0]!.generation],
      ]);
      const after = await daemon.client.call("list");
      assertEquals(after.map(({ state, health }) => [state, health]), [
        ["running", "healthy"],
        ["running", "healthy"],
      ]);
      assertEquals(after[1]!.pid, second!.pid);
      assertEquals(after[0]!.pid === first!.pid, overlap);
      assertEquals(after.map(({ restarts }) => restarts), [0, 0]);
      for (let n = 0; n < 20; n++) await request(port);
    },
  );
}

Deno.test({
  name: "restart with a change that answers 503 is rolled back after its first instance",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { port } = await serve("changed", { instances: 2 });
    const [, second] = await daemon.client.call("list");
    const load = startLoad(port, 2);
    const { code, stderr } = await daemon.cli("restart", "changed", "-e", "BAD=1");
    const { failures } = await load.stop();
    assertEquals(code, 1);
    assertMatch(stderr, /not ready within 6s: waited for its http health check/);
    // Such an answer ends with the pid of its instance.
    const bad = failures.map((text) => /HTTP\/1.1 503.*?(\d+)"$/.exec(text)?.[1]);
    assertEquals([new Set(bad).size, bad.includes(undefined)], [1, false], failures[0]);
    const after = await daemon.client.call("list");
    assertEquals(after[1]!.pid, second!.pid);
    const releases = await daemon.client.call("releases", { target: "changed" });
    assertEquals(releases.map(({ result, failure }) => [result, failure?.instance]), [
      ["rolled_back", "changed:0"],
      ["done", undefined],
    ]);
    for (let n = 0; n < 20; n++) await request(port);
  },
});

Deno.test({
  name:
    "the only instance is rolled back from a release that exits with 0, and no client is refused",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { port } = await serve("only", { instances: 1 });
    const load = startLoad(port, 2);
    const { results, rolled_back } = await daemon.client.call("reconfigure", {
      target: "only",
      rollback_on_failure: true,
      config: { env: { PORT: String(port), BAD: "exit" } },
    });
    assertStringIncludes(results[0]!.error!, "exited with code 0 before it was ready");
    assert(rolled_back);
    const { pid, state } = await daemon.status("only");
    assertEquals([state, await request(port)], ["running", String(pid)]);
    assertEquals((await load.stop()).failures, []);
  },
});

Deno.test("a rollback that fails is a failure of the instance that it leaves down, and goes no further", async () => {
  // The fourth launch fails, and all later ones: the second of the release, and the rollback.
  const launches = `${daemon.home}/launches`;
  const program =
    `echo >>"${launches}"; [ "$(wc -l <"${launches}")" -le 3 ] && exec sleep 1000; exit 1`;
  await daemon.client.call("start", {
    ...{ name: "left", entrypoint: "/bin/sh", args: ["-c", program], cwd: "/", instances: 2 },
    ...{ min_uptime: "100ms", restart_delay: "1h", wait: true },
  });
  const { results, status } = await daemon.client.call("reconfigure", {
    target: "left",
    rollback_on_failure: true,
    config: { env: { NEW: "1" } },
  });
  // The first one goes on to serve: the old configuration would not come up either.
  assertEquals([status, results.map(({ ok }) => ok)], ["failed", [true, false]]);
  assertStringIncludes(results[1]!.error!, "exited with code 1");
  const { events } = await daemon.client.call("events", { target: "left", type: "release_failed" });
  assertEquals(events.map(({ name, reason }) => [name, reason]), [
    ["left:1", "failed: exited with code 1; its rollback failed: exited with code 1"],
  ]);
});
