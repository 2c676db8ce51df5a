import { assertEquals, assertMatch } from "@std/assert";
import { hintsOf, reasonsOf, runWithError } from "../../src/verbs/inspect/handlers.ts";
import { portHint, takenPortHint } from "../../src/manager/last_words.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { NO_USAGE, type ProcessInfo } from "../../src/model/process_info.ts";
import { LoneProcess } from "../process/lone_process.ts";
import { waitFor } from "../support/wait_for.ts";
import { hintOf } from "../support/hint_of.ts";
import { commandHint } from "../../src/model/hint.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const ENDED = { code: null, signal: "SIGTERM", at: new Date(NOW - 5000) };

function info(different: Partial<ProcessInfo>, config: object = {}): ProcessInfo {
  return {
    ...NO_USAGE,
    id: "1f3a9c00",
    numericId: 0,
    name: "api",
    namespace: "default",
    instanceIndex: 0,
    runtime: "node",
    state: "running",
    ready: true,
    health: "unknown",
    pid: 7,
    exitCode: 0,
    lastExit: null,
    restarts: 0,
    createdAt: new Date(NOW),
    startedAt: new Date(NOW - 3000),
    finishedAt: null,
    nextRestartAt: null,
    lastReason: "",
    uptimeMs: 3000,
    tags: [],
    config: parseConfig({ name: "api", entrypoint: "/srv/api.js", cwd: "/srv", ...config }),
    ...different,
  };
}

Deno.test("reasonsOf() explains why an app runs again, whether or not it counts as a restart", () => {
  const up = "api is running, up for 3s as pid 7";
  assertEquals(reasonsOf(info({ lastReason: "started by user" }), NOW), [up]);
  const [changed] = reasonsOf(info({ lastReason: "index.js changed", lastExit: ENDED }), NOW);
  assertEquals(changed, `${up}, started again: index.js changed`);
  const [crashed] = reasonsOf(info({ lastReason: "exited with code 3", restarts: 1 }), NOW);
  assertEquals(crashed, `${up}, started again: exited with code 3`);
});

Deno.test("reasonsOf() explains what is wrong with a running app", () => {
  const reasons = (different: Partial<ProcessInfo>, problem?: string) =>
    reasonsOf(info(different), NOW, { problem }).slice(1);
  assertEquals(reasons({ health: "unhealthy" }, "it answered 500"), ["unhealthy: it answered 500"]);
  assertEquals(reasons({ health: "unhealthy" }), ["unhealthy"]);
  const once = "the last health check failed: it answered 500";
  assertEquals(reasons({ health: "healthy" }, "it answered 500"), [once]);
  const restarted = { lastExit: ENDED, lastReason: "unhealthy: it answered 500" };
  assertEquals(reasons(restarted, "it answered 500"), []);
  assertEquals(reasons({ ready: false }), ["not ready"]);
});

Deno.test("reasonsOf() explains why an app with restart_policy never stays down", () => {
  const crashed = (restart_policy: string) =>
    reasonsOf(info({ state: "crashed", pid: 0 }, { restart_policy }), NOW);
  assertEquals(crashed("never").includes("stays down: restart_policy is never"), true);
  assertEquals(crashed("on-failure").length, 1);
});

Deno.test("reasonsOf() explains that a job waits for its schedule", () => {
  const job = { cron: "0 3 * * *" };
  const idle = reasonsOf(info({ state: "stopped", pid: 0 }, job), NOW);
  assertEquals(idle, ["api is stopped", "starts only on schedule: 0 3 * * *"]);
  assertEquals(reasonsOf(info({}, job), NOW).length, 1);
  const off = reasonsOf(info({ state: "stopped", pid: 0 }, job), NOW, { isOff: true });
  assertEquals(off[1], "does not start by itself, its schedule is off: 0 3 * * *");
  assertEquals(hintsOf(info({ state: "crashed" }, job)).at(-1), commandHint("cron run", "api"));
  assertEquals(
    hintsOf(info({ state: "stopped" }, job), { isOff: true }).at(-1),
    commandHint("cron start", "api"),
  );
});

Deno.test("reasonsOf() explains what a starting app waits for", () => {
  const reasons = (config: object, problem?: string) =>
    reasonsOf(info({ state: "starting", ready: false }, config), NOW, { problem }).slice(1);
  assertEquals(reasons({}), []);
  assertEquals(reasons({ ready_log: "up" }), [
    'not ready yet, waits for a line of output that matches "up"',
  ]);
  const check = { wait_ready: true, health_check: { type: "tcp", tcp_endpoint: "localhost:80" } };
  assertEquals(reasons(check, "refused"), [
    "not ready yet, waits for its tcp health check; the last check: refused",
  ]);
});

Deno.test("runWithError() returns the run whose failure led to the state, if any", () => {
  const failed = { code: 1, signal: null, at: new Date(NOW) };
  assertEquals(runWithError(info({ state: "errored", pid: 0 })), "last");
  assertEquals(runWithError(info({ health: "unhealthy" })), "last");
  assertEquals(runWithError(info({ restarts: 1, lastExit: failed })), "before");
  assertEquals(runWithError(info({ restarts: 1, lastExit: ENDED })), undefined);
  assertEquals(runWithError(info({ restarts: 1, lastExit: { ...failed, code: 143 } })), undefined);
  assertEquals(runWithError(info({ lastExit: failed })), undefined);
  assertEquals(runWithError(info({ state: "stopped", pid: 0, lastExit: failed })), undefined);
});

Deno.test("portHint() explains port sharing to an app whose port was taken", () => {
  const hint = (config: object, line: string) =>
    hintOf({ hint: portHint(info({}, config).config, ["starting", line]) });
  const taken = "Error: listen EADDRINUSE: address already in use :::8080";
  const shares = /^Its instances can share .*: procsup restart api --socket 8080$/;
  assertMatch(hint({ instances: 2 }, taken)!, shares);
  assertMatch(hint({ instances: 2, sockets: ["3777"] }, taken)!, shares);
  assertMatch(
    hint({ instances: 2, sockets: ["127.0.0.1:8080"] }, taken)!,
    /^Port 8080 is among its sockets/,
  );
  assertMatch(hint({}, taken)!, /^Another program has the port.* --socket 8080$/);
  assertMatch(hint({}, "  code: 'EADDRINUSE',\n  port: 3105")!, / --socket 3105$/);
  assertMatch(hint({}, "OSError: [Errno 98] Address already in use")!, /--socket <port>$/);
  assertEquals(hint({ instances: 2 }, "listening on :::8080"), undefined);
});

Deno.test("takenPortHint() recognizes a server that exits silently, unless a user stopped it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  await using lone = new LoneProcess({ env: { PORT: String(port) } });
  const hint = () => takenPortHint(lone.process, { lastOutput: [] });
  await lone.process.start();
  assertEquals(hint(), undefined);
  lone.world.child.exit(0);
  await waitFor(() => lone.state === "stopped");
  assertEquals(
    hint(),
    { text: `Port ${port}, its PORT, is in use: some servers then exit without an error` },
  );
  assertEquals(hintsOf(lone.process.info(), { port: hint() })[0], hint());
  const error = `listen tcp :${port}: bind: address already in use`;
  assertMatch(
    takenPortHint(lone.process, { errorLine: error, lastOutput: [] })!.text!,
    /^Another program has/,
  );
  await lone.process.stop();
  assertEquals(hint(), undefined);
});

Deno.test("hintsOf() refers to the events of an app that runs again", () => {
  assertEquals(hintsOf(info({ lastExit: null })), [commandHint("logs", "api", { follow: true })]);
  assertEquals(
    hintsOf(info({ lastExit: ENDED })).at(-1),
    commandHint("events", "api", { since: "24h" }),
  );
});
