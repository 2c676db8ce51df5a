/** Changing a configuration over REST: a run is replaced only if a changed key requires it. */

import { assertEquals, assertNotEquals } from "@std/assert";
import { TestWeb } from "../support/web.ts";

const web = TestWeb.ofFile();

const P = "/api/v1/processes";

Deno.test("PATCH applies live keys to the run, and replaces it for other keys", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", {
    ...{ instances: 2, env: { KEY: "old", KEPT: "yes" }, min_uptime: "50ms" },
  });
  const pids = async () =>
    // deno-lint-ignore no-explicit-any
    (await web.ask("GET", P)).body.map(({ pid }: any) => pid);
  const before = await pids();
  const live = await web.ask("PATCH", `${P}/app`, { tags: ["blue"], max_restarts: 3 });
  assertEquals([live.status, live.body.status, live.body.restarted], [200, "changed", false]);
  assertEquals(live.body.changes, [
    { field: "max_restarts", from: 10, to: 3 },
    { field: "tags", to: ["blue"] },
  ]);
  assertEquals([await pids(), live.body.results.length], [before, 2]);
  const same = await web.ask("PATCH", `${P}/app`, { tags: ["blue"] });
  assertEquals([same.body.status, same.body.changes], ["unchanged", []]);
  const env = await web.ask("PATCH", `${P}/app`, { env: { KEY: "hidden-value" } });
  assertEquals([env.body.status, env.body.restarted], ["reloaded", true]);
  assertEquals([env.body.changes, env.text.includes("hidden")], [[{ field: "env.KEY" }], false]);
  (await pids()).forEach((pid: number, i: number) => assertNotEquals(pid, before[i]));
  const { config } = (await web.ask("GET", `${P}/app:1`)).body;
  assertEquals([config.tags, config.max_restarts], [["blue"], 3]);
  // A client cannot send back values that it cannot read, so they are kept.
  assertEquals(Object.keys(config.env), ["KEY", "KEPT"]);
  const without = await web.ask("PATCH", `${P}/app`, { max_restarts: null, env: null });
  assertEquals(without.body.status, "reloaded");
  assertEquals((await web.ask("GET", `${P}/app:0`)).body.config.max_restarts, 10);
});

Deno.test("PUT resets unnamed keys to their defaults, and starts nothing that is down", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", { tags: ["blue"], max_restarts: 3 });
  await web.ask("POST", `${P}/app/stop`);
  const wanted = { entrypoint: "/bin/sleep", args: ["1000"], cwd: "/", max_restarts: 5 };
  const put = await web.ask("PUT", `${P}/app`, { ...wanted, name: "app" });
  assertEquals([put.status, put.body.status, put.body.restarted], [200, "changed", false]);
  const { state, config } = (await web.ask("GET", `${P}/app`)).body;
  assertEquals([state, config.entrypoint, config.tags], ["stopped", "/bin/sleep", undefined]);
  const other = await web.ask("PUT", `${P}/app`, { ...wanted, name: "other" });
  assertEquals([other.status, other.body.code], [422, "invalid_config"]);
  for (const method of ["PUT", "PATCH"]) {
    const masked = await web.ask(method, `${P}/app`, { ...wanted, env: { KEY: "***" } });
    assertEquals([masked.status, masked.body.code], [422, "invalid_config"]);
  }
  const bad = await web.ask("PUT", `${P}/app`, { cwd: "/" });
  assertEquals([bad.status, bad.body.code], [422, "invalid_config"]);
  assertEquals((await web.ask("GET", `${P}/app`)).body.config.entrypoint, "/bin/sleep");
});

Deno.test("PATCH restores the old configuration when the new one fails to start", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", {
    stop_timeout: "1s",
    // Longer than a loaded machine takes to terminate the new one.
    min_uptime: "1500ms",
  });
  const bad = await web.ask("PATCH", `${P}/app`, { args: ["-c", "exit 3"], max_restarts: 0 });
  assertEquals([bad.status, bad.body.code], [422, "start_failed"]);
  const { state, config } = (await web.ask("GET", `${P}/app`)).body;
  assertEquals([state, config.args], ["running", ["-c", "exec sleep 1000"]]);
});
