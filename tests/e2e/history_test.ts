/** The last hooks, health checks and scheduled runs, over REST. */

import { assert, assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const web = TestWeb.ofFile();

const P = "/api/v1/processes";

Deno.test("GET history returns results of hooks and health checks, without secrets", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", {
    secrets: { KEY: { command: "echo hidden-value" } },
    hooks: {
      pre_start: { command: "echo ready with $KEY" },
      post_start: { command: "sleep 1000", timeout: "100ms" },
      pre_reload: { command: "echo no >&2; exit 3" },
      post_healthcheck: { command: "true" },
    },
    health_check: { type: "command", command: "test -e $PROCSUP_HOME/absent", interval: "1s" },
  });
  await web.ask("POST", `${P}/app/reload`);
  const ask = () => web.ask("GET", `${P}/app/history`);
  await waitFor(async () => {
    const { hooks, health } = (await ask()).body;
    return hooks.filter(({ hook }: { hook: string }) => hook === "post_start").length === 2 &&
      health.length > 2;
  }, { what: "hooks and checks to have run" });
  const { body, text } = await ask();
  assertEquals([body.name, body.id.length], ["app", 8]);
  // deno-lint-ignore no-explicit-any
  const of = (name: string) => body.hooks.find(({ hook }: any) => hook === name);
  const { at, duration, ...start } = of("pre_start");
  assert(Date.parse(at) > Date.now() - 60_000 && duration > 0);
  assertEquals(start, {
    ...{ hook: "pre_start", ok: true, exit_code: 0, timed_out: false },
    output: "ready with ***",
  });
  assertEquals([of("post_start").timed_out, of("post_start").ok], [true, false]);
  assertEquals([of("pre_reload").exit_code, of("pre_reload").output], [3, "no"]);
  // The reload may have interrupted one.
  // deno-lint-ignore no-explicit-any
  assert(body.hooks.some(({ hook, ok }: any) => hook === "post_healthcheck" && ok));
  const { ok, message, latency } = body.health[0];
  assertEquals([ok, message], [false, "check ended with code 1"]);
  assert(Number.isInteger(latency) && latency > 0);
  assertEquals(text.includes("hidden-value"), false);
});

Deno.test("GET history is empty without hooks and checks, and GET cron returns the last runs", async () => {
  await web.daemon.startScript("job", "exit 3", { cron: { schedule: "0 0 1 1 *" } });
  await web.ask("POST", "/api/v1/cron/job/run");
  await waitFor(async () => (await web.ask("GET", "/api/v1/cron")).body[0].history.length === 1);
  const [run] = (await web.ask("GET", "/api/v1/cron")).body[0].history;
  assertEquals([run.status, run.exit_code], ["failed", 3]);
  assert(Date.parse(run.finished_at) >= Date.parse(run.started_at));
  const { hooks, health } = (await web.ask("GET", `${P}/job/history`)).body;
  assertEquals([hooks, health], [[], []]);
  assertEquals((await web.ask("GET", `${P}/absent/history`)).status, 404);
});

Deno.test("GET system/metrics counts automatic restarts of the last hour, and no manual ones", async () => {
  const count = async () =>
    (await web.ask("GET", "/api/v1/system/metrics")).body.daemon.restarts_last_hour;
  assertEquals(await count(), 0);
  const quick = { restart_delay: "10ms", max_restarts: 3 };
  for (const name of ["one", "two"]) await web.daemon.startScript(name, "exit 1", quick);
  await web.daemon.startScript("calm", "exec sleep 1000");
  await web.ask("POST", `${P}/calm/restart`);
  const over = async () =>
    (await web.daemon.client.call("list")).filter(({ state }) => state === "errored").length === 2;
  await waitFor(over, { what: "both to have used up their restarts" });
  assertEquals(await count(), 6);
  // A deleted and recreated process starts counting from zero; the total keeps its past restarts.
  await web.ask("DELETE", `${P}/one`);
  assertEquals(await count(), 6);
});
