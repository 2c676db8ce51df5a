/** Health checks of real servers; tests/process/ covers the details of a check. */

import { fromFileUrl } from "@std/path";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { ProcsupError } from "../../src/mod.ts";
import { freePort } from "../support/http_load.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { Receiver } from "../support/receiver.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const SERVER = fromFileUrl(import.meta.resolve("../fixtures/http_app.ts"));

/** The configuration of a server that is checked several times a second. */
function server(check: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    config: {
      name: "api",
      entrypoint: Deno.execPath(),
      args: ["run", "-A", SERVER],
      env: { PORT: String(port), ...env },
      health_check: {
        type: "http",
        url: `${url}/health`,
        interval: "50ms",
        retries: 2,
        grace_period: "10s",
        ...check,
      },
    },
  };
}

Deno.test("an unhealthy server is restarted with the reason, and recovers", async () => {
  await using test = await TestManager.open();
  const { url, config } = server({ grace_period: "0s", on_failure: "restart" });
  await test.supervisor.add(
    { cwd: test.home, wait_ready: true, ...config },
    { wait: true },
  );
  await waitFor(() => test.info("api").health === "healthy", { what: "healthy" });
  const { pid } = test.info("api");
  await fetch(`${url}/fail`).then((response) => response.body?.cancel());
  await waitFor(() => test.info("api").restarts === 1, { what: "a restart" });
  await waitFor(() => test.info("api").health === "healthy", { what: "healthy again" });
  const now = test.info("api");
  assert(now.pid !== pid && now.state === "running");
  assertMatch(now.lastReason, /^unhealthy: .*\/health answered 503$/);
  const kinds = test.changes.map(({ type }) => type).filter((type) => /healthy/.test(type));
  assertEquals(kinds, ["healthy", "unhealthy", "healthy"]);
  assertMatch(test.published("api", "unhealthy")[0]!.reason, /answered 503$/);
});

Deno.test("an unhealthy server keeps running with on_failure none", async () => {
  await using test = await TestManager.open();
  const { url, config } = server({ grace_period: "0s", on_failure: "none" });
  await test.supervisor.add(
    { cwd: test.home, wait_ready: true, ...config },
    { wait: true },
  );
  await fetch(`${url}/fail`).then((response) => response.body?.cancel());
  await waitFor(() => test.info("api").health === "unhealthy", { what: "unhealthy" });
  assertEquals([test.info("api").state, test.info("api").restarts], ["running", 0]);
});

Deno.test("on_failure signal reaches the app", async () => {
  await using test = await TestManager.open();
  const app = "trap 'echo got >>order' USR1; touch up; while :; do sleep 1000 & wait; done";
  await test.script("app", app, {
    health_check: {
      type: "command",
      command: "[ ! -e up ]",
      interval: "20ms",
      retries: 3,
      on_failure: "signal:SIGUSR1",
    },
  });
  await waitFor(() => test.lines("order").length === 1, { what: "the signal" });
  assertEquals(test.info("app").restarts, 0);
});

Deno.test("an app that stays unhealthy is given up after max_restarts", async () => {
  await using test = await TestManager.open();
  const added = test.script("app", "exec sleep 1000", {
    max_restarts: 2,
    health_check: { type: "command", command: "exit 1", interval: "20ms", retries: 1 },
  });
  // On a loaded machine it is given up before its start was reported, so the start fails.
  await added.catch(() => {});
  await test.until("app", "errored");
  const { restarts, lastReason, pid } = test.info("app");
  assertEquals([restarts, pid], [2, 0]);
  assertEquals(lastReason, "unhealthy: check ended with code 1, 2 restarts used up");
});

Deno.test("hanging checks run one at a time, and do not delay a stop", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000", {
    health_check: {
      type: "command",
      command: "echo begun >>order; sleep 1000",
      interval: "10ms",
      timeout: "300ms",
      retries: 1,
      on_failure: "none",
    },
  });
  const { journal } = test.supervisor.process("app");
  let most = 0;
  await waitFor(() => {
    // A check that has ended is on record before the next one begins.
    most = Math.max(most, test.lines("order").length - journal.checks.length);
    return journal.checks.length >= 3;
  }, { what: "three checks" });
  assertEquals([most, test.info("app").health], [1, "unhealthy"]);
  await test.manager.stop("app");
});

Deno.test("a check that hangs does not outlive the daemon's successor", async () => {
  await daemon.startScript("app", "exec sleep 1000", {
    health_check: {
      type: "command",
      command: `echo $$ >>${daemon.home}/checks; exec sleep 1000`,
      timeout: "1h",
      on_failure: "none",
    },
  });
  const checks = () =>
    Deno.readTextFileSync(`${daemon.home}/checks`).trim().split("\n").map(Number);
  await waitFor(() => checks().length === 1, { what: "a check" });
  await daemon.kill();
  await daemon.run();
  await waitFor(() => checks().length === 2, { what: "the check of the next daemon" });
  assertEquals(checks().map(isAlive), [false, true]);
});

Deno.test("health is checked again under a new daemon, and is shown and explained", async () => {
  const { url, config } = server({ on_failure: "none", grace_period: "0s" });
  await daemon.client.call("start", { cwd: "/", ...config });
  const healthy = async () => (await daemon.status("api")).health === "healthy";
  await waitFor(healthy, { what: "healthy" });
  const { pid } = await daemon.status("api");
  await daemon.kill();
  await daemon.run();
  await waitFor(healthy, { what: "healthy under the new daemon" });
  assertEquals((await daemon.status("api")).pid, pid);
  assertEquals(JSON.parse((await daemon.cli("status", "api", "--json")).stdout).health, "healthy");
  await fetch(`${url}/fail`).then((response) => response.body?.cancel());
  await waitFor(async () => (await daemon.status("api")).health === "unhealthy");
  assertStringIncludes(
    (await daemon.cli("why", "api")).stdout,
    `unhealthy: ${url}/health answered 503 · `,
  );
  // The next daemon has the failing answers of this one.
  const failures = async () =>
    (await daemon.client.call("history", { target: "api" })).health.filter(({ ok }) => !ok);
  // The newest: older ones are dropped as more follow.
  const before = (await failures()).at(-1)!;
  await daemon.terminate();
  await daemon.run();
  assertEquals((await failures()).find(({ at }) => at === before.at), before);
  assertStringIncludes(before.message, "answered 503");
});

Deno.test("invalid health checks are rejected before anything starts, with the field", async () => {
  await using test = await TestManager.open();
  const bad: readonly [Record<string, unknown>, string][] = [
    [{ type: "http" }, 'needs "url"'],
    [{ type: "tcp" }, 'needs "tcp_endpoint"'],
    [{ type: "command" }, 'needs "command"'],
    [{ type: "icmp", url: "x" }, "health_check.type"],
    [{ type: "http", url: "ftp://x" }, "health_check.url"],
    [{ type: "http", url: "http://127.0.0.1:6000/" }, 'to port 6000: use type "tcp" or "command"'],
    [{ type: "tcp", address: "localhost" }, "health_check.address"],
    [{ type: "command", command: "true", retries: 0 }, "health_check.retries"],
    [{ type: "command", command: "true", on_failure: "signal:SIGFOO" }, "SIGFOO"],
    [{ type: "command", command: "true", on_failure: "panic" }, "health_check.on_failure"],
    [{ type: "command", command: "true", interval: "0s" }, "health_check.interval"],
    [{ type: "command", command: "true", timeout: "0s" }, "health_check.timeout"],
  ];
  for (const [health_check, message] of bad) {
    const start = () => test.script("app", "sleep 1000", { health_check });
    const error = await assertRejects(start, ProcsupError);
    assertEquals(error.code, "invalid_config", JSON.stringify(health_check));
    assert(error.message.includes(message), error.message);
  }
  assertEquals(test.manager.list(), []);
});

Deno.test("local checks and webhooks use no proxy", async () => {
  await daemon.terminate();
  const nowhere = "http://127.0.0.1:1";
  await daemon.run({ HTTP_PROXY: nowhere, http_proxy: nowhere, NO_PROXY: "", no_proxy: "" });
  await using receiver = new Receiver();
  assertEquals((await daemon.cli("webhook", "set", "ops", "--url", receiver.url)).code, 0);
  const { config } = server({}, { HTTP_PROXY: "", http_proxy: "" });
  const { state } = await daemon.client.call("start", {
    ...{ cwd: "/", wait_ready: true, ...config },
    wait: true,
  });
  assertEquals(state, "running");
  assertEquals((await daemon.cli("webhook", "test", "ops")).code, 0);
});
