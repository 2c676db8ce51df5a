/**
 * Readiness of real processes: starts wait for it, a timeout is a failure, and it survives the
 * daemon.
 */

import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/mod.ts";
import { livingWith } from "../fixtures/run_members.ts";
import { freePort } from "../support/http_load.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const SERVER = fromFileUrl(import.meta.resolve("../fixtures/http_app.ts"));
const WAIT = { wait: true };

/** A server that listens on a port after a delay and is ready when it answers. */
function server(port: number, changes: Record<string, unknown> = {}) {
  const url = `http://127.0.0.1:${port}/health`;
  return {
    name: "api",
    entrypoint: Deno.execPath(),
    args: ["run", "-A", SERVER],
    cwd: "/",
    env: { PORT: String(port), DELAY: "200" },
    wait_ready: true,
    health_check: { type: "http", url, on_failure: "none" },
    ...changes,
  };
}

Deno.test("ready by health check: start returns when the server answers", async () => {
  await using test = await TestManager.open();
  const port = freePort();
  const adding = test.supervisor.add(server(port), WAIT);
  await waitFor(() => test.info("api").pid > 0, { what: "a pid" });
  assertEquals([test.info("api").state, test.info("api").ready], ["starting", false]);
  await adding;
  const { state, ready } = test.info("api");
  assertEquals([state, ready], ["running", true]);
  await fetch(`http://127.0.0.1:${port}`).then((response) => response.body?.cancel());
});

Deno.test("ready by health check: an answer of another process on the port does not count", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using test = await TestManager.open();
  const onListen = () => {};
  const stranger = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, () => new Response());
  const config = server(stranger.addr.port, {
    listen_timeout: "2s",
    restart_policy: "never",
  });
  await test.supervisor.add({ ...config, entrypoint: "/bin/sleep", args: ["1000"] }, WAIT);
  assertEquals(test.info("api").state, "crashed");
  assertEquals(
    test.info("api").lastReason,
    "not ready within 2s: waited for its http health check: " +
      `port ${stranger.addr.port} is answered by another process, pid ${Deno.pid}`,
  );
  await stranger.shutdown();
});

Deno.test("ready by ready_log or ready_delay: an earlier successful health check does not count", async () => {
  await using test = await TestManager.open();
  const health_check = { type: "command", command: "echo checked >>checks", interval: "50ms" };
  const gated = "while [ ! -e gate ]; do sleep 0.1; done; echo up; exec sleep 1000";
  const both = { health_check, overlap: true };
  const logged = test.script("logged", gated, { ...both, ready_log: "^up$" }, WAIT);
  const delayed = test.script("delayed", "exec sleep 1000", { ...both, ready_delay: "1s" }, WAIT);
  await waitFor(() => test.info("logged").pid > 0, { what: "a pid" });
  await delayed;
  assert(test.info("delayed").uptimeMs >= 1000);
  assertEquals(test.info("logged").state, "starting");
  Deno.writeTextFileSync(`${test.home}/gate`, "");
  await logged;
  await waitFor(() => test.info("logged").health === "healthy", { what: "the checks after it" });
  // A reload waits for its successor in the same way.
  Deno.removeSync(`${test.home}/gate`);
  const { pid } = test.info("logged");
  const reload = test.supervisor.reload("logged", WAIT);
  const length = () => test.lines("checks").length;
  const before = length();
  await waitFor(() => length() >= before + 5, { what: "checks of the old run" });
  assertEquals(test.info("logged").pid, pid);
  Deno.writeTextFileSync(`${test.home}/gate`, "");
  await reload;
  assert(test.info("logged").pid !== pid);
});

Deno.test("ready by ready file: the app writes it, and only READY=1 counts", async () => {
  await using test = await TestManager.open();
  const app = 'echo READY=0 >"$PROCSUP_READY_FILE"; while [ ! -e gate ]; do sleep 0.1; done; ' +
    'printf "STATUS=up\\nREADY=1\\n" >"$PROCSUP_READY_FILE"; exec sleep 1000';
  const started = test.script("app", app, { wait_ready: true }, WAIT);
  await waitFor(() => test.info("app").pid > 0, { what: "a pid" });
  assertEquals(test.info("app").state, "starting");
  await Deno.writeTextFile(`${test.home}/gate`, "");
  assertEquals((await started).ready, true);
});

Deno.test("ready by process.send: a Node app sends it as under PM2, and its children cannot", async () => {
  await using test = await TestManager.open();
  const app = `${test.home}/app.js`;
  await Deno.writeTextFile(
    app,
    `const child = 'console.log(typeof process.send, process.env.NODE_OPTIONS)';
    require("child_process").spawnSync(process.execPath, ["-e", child], { stdio: "inherit" });
    process.send("other");
    setTimeout(() => process.send("ready", () => console.log("sent")), 200);
    setInterval(() => {}, 1000);`,
  );
  const env = { NODE_OPTIONS: "--no-warnings" };
  const config = { name: "app", entrypoint: app, cwd: test.home, env, wait_ready: true };
  const adding = test.supervisor.add(config, WAIT);
  await waitFor(() => test.info("app").pid > 0);
  assertEquals(test.info("app").ready, false);
  const [outcome] = await adding;
  assertEquals([outcome?.error, test.info("app").ready], [undefined, true]);
  const log = `${test.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.readTextFileSync(log) === "undefined --no-warnings\nsent\n");
});

Deno.test("ready by process.send: under Deno, and when tsx starts Node as a child", async () => {
  await using test = await TestManager.open();
  const { home } = test;
  const app = `${home}/app.cjs`;
  await Deno.writeTextFile(app, 'process.send("ready"); setInterval(() => {}, 1000);');
  const tsx = `${home}/tsx`;
  await Deno.writeTextFile(
    tsx,
    `#!/usr/bin/env node
    require("child_process").spawnSync("node", [process.argv[2]], { stdio: "inherit" });`,
    { mode: 0o755 },
  );
  const common = { cwd: home, wait_ready: true, listen_timeout: "10s" };
  for (
    const config of [
      { name: "deno", entrypoint: app, runtime: "deno" },
      { name: "tsx", entrypoint: tsx, args: [app] },
      { name: "node", entrypoint: "node", args: [app] },
    ]
  ) {
    const [outcome] = await test.supervisor.add({ ...common, ...config }, WAIT);
    assertEquals([outcome?.error, test.info(config.name).ready], [undefined, true], config.name);
  }
});

Deno.test("ready by log: stderr counts too, but only output of this run", async () => {
  await using test = await TestManager.open();
  // The first run prints it and fails; the second one never prints it.
  const app = "[ -e second ] && exec sleep 1000; touch second; echo listening on 80 >&2; " +
    "while [ ! -e go ]; do sleep 0.1; done; exit 1";
  const config = { ready_log: "listening on \\d+", restart_delay: "10ms", listen_timeout: "2s" };
  await test.script("app", app, config, { wait: false });
  await waitFor(() => test.published("app", "running").length === 1, {
    what: "the first readiness",
  });
  Deno.writeTextFileSync(`${test.home}/go`, "");
  await waitFor(() => /^not ready/.test(test.info("app").lastReason), { what: "the timeout" });
  assertEquals(test.published("app", "running").length, 1);
  await waitFor(() => test.info("app").restarts >= 2, { what: "another automatic restart" });
});

Deno.test("ready by delay: ready after running for that long", async () => {
  await using test = await TestManager.open();
  const { state } = await test.script("app", "exec sleep 1000", { ready_delay: "50ms" }, WAIT);
  assertEquals(state, "running");
  const other = await test.script("other", "exec sleep 1000", { ready_delay: "1h" });
  assertEquals([other.state, other.ready], ["starting", false]);
});

Deno.test("a first start that times out fails and leaves nothing running", async () => {
  await using test = await TestManager.open();
  const MARK = crypto.randomUUID();
  const config = {
    ...{ wait_ready: true, listen_timeout: "300ms", env: { MARK } },
    restart_policy: "never",
  };
  const start = () => test.script("app", "exec sleep 1000", config, WAIT);
  const error = await assertRejects(start, ProcsupError);
  assertEquals([error.code, error.message], [
    "start_failed",
    'Cannot start "app": not ready within 300ms: waited for READY=1, by sd_notify or in $PROCSUP_READY_FILE',
  ]);
  const { state, ready, restarts } = test.info("app");
  assertEquals([state, ready, restarts], ["crashed", false, 0]);
  assertEquals(livingWith(`MARK=${MARK}`), []);
});

Deno.test("start waits for readiness only if requested", async () => {
  await using test = await TestManager.open();
  const { state, pid } = await test.script("app", "exec sleep 1000", { wait_ready: true });
  assertEquals(state, "starting");
  assert(isAlive(pid));
});

Deno.test("an exit before readiness fails the start with the exit code, however soon it comes", async () => {
  await using test = await TestManager.open();
  const config = { wait_ready: true, restart_policy: "never" };
  // The reader of its messages may only just have begun.
  await Promise.all(Array.from({ length: 60 }, async (_, i) => {
    const start = () => test.script(`app${i}`, "exit 7", config, WAIT);
    const error = await assertRejects(start, ProcsupError);
    assertEquals(error.message, `Cannot start "app${i}": exited with code 7`);
  }));
});

Deno.test("deleting an app that is not ready yet terminates it", async () => {
  await using test = await TestManager.open();
  const starting = assertRejects(
    () => test.script("app", "exec sleep 1000", { wait_ready: true }, WAIT),
    ProcsupError,
  );
  await waitFor(() => test.info("app").pid > 0, { what: "a pid" });
  const { pid } = test.info("app");
  await test.manager.remove("app");
  await starting;
  assertEquals([test.manager.list(), isAlive(pid)], [[], false]);
});

for (
  const [how, says, config] of [
    ["ready file", 'echo READY=1 >"$PROCSUP_READY_FILE"', { wait_ready: true }],
    ["log", "echo ready", { ready_log: "ready" }],
  ] as const
) {
  Deno.test(`the wait for ${how} continues after the daemon is killed`, async () => {
    const gate = `${daemon.home}/gate`;
    const app = `while [ ! -e ${gate} ]; do sleep 0.1; done; ${says}; exec sleep 1000`;
    const { pid } = await daemon.startScript("app", app, config);
    assertEquals((await daemon.status("app")).state, "starting");
    await daemon.kill();
    await daemon.run();
    const adopted = await daemon.status("app");
    assertEquals([adopted.state, adopted.ready, adopted.pid], ["starting", false, pid]);
    await Deno.writeTextFile(gate, "");
    await waitFor(async () => (await daemon.status("app")).state === "running", {
      what: "running",
    });
    const { pid: now, restarts, ready } = await daemon.status("app");
    assertEquals([now, restarts, ready], [pid, 0, true]);
  });
}

Deno.test("an app that became ready while no daemon ran is running under the next one", async () => {
  const app = 'sleep 0.5; echo READY=1 >"$PROCSUP_READY_FILE"; touch "$SAID"; exec sleep 1000';
  const said = `${daemon.home}/said`;
  const { pid } = await daemon.startScript("app", app, { wait_ready: true, env: { SAID: said } });
  await daemon.kill();
  await waitFor(() => Deno.statSync(said).isFile, { what: "the app to say it" });
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).state === "running", { what: "running" });
  assertEquals((await daemon.status("app")).pid, pid);
});

/** Starts an app that ignores SIGTERM. */
async function deafApp(daemon: TestDaemon) {
  const script = `trap '' TERM; echo >${daemon.home}/up; while :; do sleep 1000 & wait; done`;
  const started = await daemon.startScript("app", script, { stop_timeout: "4s" });
  await waitFor(() => Deno.statSync(`${daemon.home}/up`).isFile, { what: "the app to be up" });
  return started;
}

Deno.test("a stop is completed after the daemon is killed", async () => {
  const { pid } = await deafApp(daemon);
  const stopping = daemon.client.call("stop", "app").catch(() => {});
  await waitFor(async () => (await daemon.status("app")).state === "stopping", {
    what: "stopping",
  });
  await daemon.kill();
  await stopping;
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).state === "stopped", { what: "stopped" });
  assertEquals(isAlive(pid), false);
});

Deno.test("a restart is completed after the daemon is killed", async () => {
  const { pid } = await deafApp(daemon);
  const restarting = daemon.client.call("restart", "app").catch(() => {});
  await waitFor(async () => (await daemon.status("app")).state === "stopping", {
    what: "stopping",
  });
  await daemon.kill();
  await restarting;
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).state === "running", { what: "running" });
  const now = await daemon.status("app");
  assert(now.pid !== pid && !isAlive(pid));
  assertEquals(now.restarts, 0);
});

Deno.test(
  "an app of another user can report readiness, also to the next daemon",
  { ignore: Deno.uid() !== 0 },
  async () => {
    const script = 'echo "$PROCSUP_READY_FILE"; until [ -e "$GATE" ]; do sleep 0.1; done; ' +
      'echo READY=1 >"$PROCSUP_READY_FILE" && exec sleep 1000';
    const gate = `/tmp/procsup-gate-${crypto.randomUUID()}`;
    const config = { uid: 65534, gid: 65534, wait_ready: true, env: { GATE: gate } };
    await daemon.startScript("app", script, config);
    const log = `${daemon.home}/apps/app/stdout.log`;
    await waitFor(() => Deno.readTextFileSync(log).endsWith("\n"), { what: "the file's name" });
    const file = Deno.readTextFileSync(log).trim();
    assertEquals((await daemon.status("app")).state, "starting");

    await daemon.kill();
    await daemon.run();
    assertEquals((await daemon.status("app")).state, "starting");
    Deno.writeTextFileSync(gate, "");
    try {
      const [app] = await daemon.client.call("wait", { target: "app", timeout: "20s" });
      assertEquals([app!.state, app!.ready], ["running", true]);
    } finally {
      Deno.removeSync(gate);
    }
    const { uid, mode } = Deno.statSync(file);
    assertEquals([uid, mode! & 0o777], [65534, 0o600]);
    await daemon.client.call("stop", { target: "app" });
    await assertRejects(() => Deno.stat(file), Deno.errors.NotFound);
  },
);
