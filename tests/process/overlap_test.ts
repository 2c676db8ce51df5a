/** Reload with overlap, in a fake world. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

/** A running process that may run twice. */
async function running(config: Record<string, unknown> = {}): Promise<LoneProcess> {
  const lone = new LoneProcess({ overlap: true, min_uptime: "1s", ...config });
  lone.world.overlaps = true;
  await lone.process.start();
  return lone;
}

function alive({ world }: LoneProcess): boolean[] {
  return world.children.map(({ alive }) => alive);
}

Deno.test("reload() with overlap terminates the old app after the new one has run for min_uptime", async () => {
  await using lone = await running();
  const reload = lone.process.reload();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  assertEquals(alive(lone), [true, true]);
  lone.world.clock.advance(1000);
  await reload;
  assertEquals([alive(lone), lone.state], [[false, true], "running"]);
  const { pid, restarts } = lone.process.snapshot;
  assertEquals([pid, restarts], [lone.world.child.run.wrapperPid + 1, 0]);
});

Deno.test("reload() with overlap runs the stop hook between the two apps, and before the old one ends", async () => {
  await using lone = await running({ hooks: { pre_stop: "echo $PROCSUP_PID >told" } });
  const told: string[] = [];
  lone.world.beforeEnd = () => {
    const names = [...Deno.readDirSync(lone.home)].map(({ name }) => name);
    if (names.includes("told")) told.push(Deno.readTextFileSync(`${lone.home}/told`).trim());
  };
  const reload = lone.process.reload();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  lone.world.clock.advance(1000);
  await reload;
  assertEquals([alive(lone), told], [[false, true], [String(lone.process.snapshot.pid)]]);
});

Deno.test("reload() with overlap keeps the old app when the new one's end is noticed late", async () => {
  await using lone = await running();
  const refused = assertRejects(() => lone.process.reload(), ProcsupError, "it ended at once");
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  lone.world.child.end();
  lone.world.clock.advance(1000);
  lone.world.child.exit(3);
  await refused;
  assertEquals([alive(lone), lone.state], [[true, false], "running"]);
});

Deno.test("reload() with overlap keeps the old app when the new one does not become ready", async () => {
  await using lone = await running();
  lone.configure({ waitReady: true });
  const refused = assertRejects(() => lone.process.reload(), ProcsupError, "not ready within");
  await waitFor(() => lone.world.children.length === 2 && lone.world.awaitsReady);
  lone.world.clock.advance(30_000);
  await refused;
  assertEquals([alive(lone), lone.state], [[true, false], "running"]);
  assertEquals(lone.process.snapshot.successor, null);
});

Deno.test("reload() with overlap fails when the new app has ended", async () => {
  await using lone = await running({ stop_timeout: "1s" });
  lone.configure({ waitReady: true });
  const failed = lone.process.reload().catch(() => alive(lone));
  await waitFor(() => lone.world.awaitsReady);
  // It ignores its stop signal.
  lone.world.prompt = false;
  lone.world.clock.advance(lone.process.config.listenTimeoutMs);
  await waitFor(() => lone.process.snapshot.leftovers.length === 1);
  await Promise.race([failed, waitFor(() => lone.world.ends.length === 1)]);
  lone.world.clock.advance(1000);
  assertEquals(await failed, [true, false]);
});

Deno.test("stop() during a reload with overlap ends the wait for the new app", async () => {
  await using lone = await running();
  lone.configure({ waitReady: true });
  const refused = assertRejects(() => lone.process.reload(), ProcsupError);
  await waitFor(() => lone.world.children.length === 2 && lone.world.awaitsReady);
  assertEquals(lone.world.clock.pending, 1);
  await lone.process.stop();
  await refused;
  assertEquals([alive(lone), lone.world.clock.pending], [[false, false], 0]);
});

Deno.test("stop() during a reload with overlap terminates both runs", async () => {
  await using lone = await running();
  const refused = assertRejects(() => lone.process.reload(), ProcsupError);
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  await lone.process.stop();
  await refused;
  assertEquals([alive(lone), lone.state], [[false, false], "stopped"]);
});

Deno.test("stop() during the pre_start hook of a reload with overlap launches nothing", async () => {
  await using lone = await running({
    hooks: { pre_start: "[ -e first ] || exec touch first; touch begun; sleep 1000" },
  });
  const refused = assertRejects(() => lone.process.reload(), ProcsupError, "stopped meanwhile");
  await waitFor(() => Deno.statSync(`${lone.home}/begun`).isFile, { what: "the hook" });
  await lone.process.stop();
  await refused;
  assertEquals([alive(lone), lone.state], [[false], "stopped"]);
});

Deno.test("reload() with overlap leaves nothing on record when the system refuses the launch", async () => {
  await using lone = await running();
  lone.world.beforeLaunch = () => {
    throw new ProcsupError("start_failed", "The system refused: no more processes");
  };
  await assertRejects(() => lone.process.reload(), ProcsupError, "no more processes");
  lone.world.beforeLaunch = () => {
    throw new Error("too many open files");
  };
  await assertRejects(() => lone.process.reload(), ProcsupError, "too many open files");
  const { state, successor, run } = lone.process.snapshot;
  assertEquals([state, successor, run?.runId], ["running", null, lone.world.child.run.runId]);
});

Deno.test("stop() while a reload with overlap fetches a secret launches nothing", async () => {
  await using lone = await running();
  lone.configure({
    secrets: {
      KEY: { command: `cd ${lone.home}; touch begun; while [ -e begun ]; do sleep 0.05; done` },
    },
  });
  const refused = assertRejects(() => lone.process.reload(), ProcsupError, "stopped meanwhile");
  await waitFor(() => Deno.statSync(`${lone.home}/begun`).isFile, { what: "the command" });
  await lone.process.stop();
  await refused;
  assertEquals([alive(lone), lone.state], [[false], "stopped"]);
});

Deno.test("reload() with overlap waits for one in progress", async () => {
  await using lone = await running();
  const [first, second] = [lone.process.reload(), lone.process.reload()];
  await waitFor(() => lone.world.clock.pending === 1, { what: "the first new app" });
  assertEquals(alive(lone), [true, true]);
  lone.world.clock.advance(1000);
  await first;
  await waitFor(() => lone.world.children.length === 3, { what: "the second new app" });
  assertEquals(alive(lone), [false, true, true]);
  lone.world.clock.advance(1000);
  await second;
  assertEquals([alive(lone), lone.state], [[false, false, true], "running"]);
});

Deno.test("stop() also waits for the run before a reload with overlap", async () => {
  await using lone = await running();
  const reload = lone.process.reload();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  lone.world.prompt = false;
  lone.world.clock.advance(1000);
  await waitFor(() => lone.process.snapshot.leftovers.length > 0, { what: "the new app's turn" });
  let stopped = false;
  const stop = lone.process.stop().then(() => stopped = true);
  const [old, now] = lone.world.children;
  now!.exit("SIGTERM");
  await waitFor(() => lone.world.ends.length === 2, { what: "both to be signalled" });
  assertEquals([stopped, lone.state], [false, "stopping"]);
  old!.exit("SIGTERM");
  await Promise.all([stop, reload]);
  assertEquals([alive(lone), lone.state], [[false, false], "stopped"]);
});

Deno.test("stop() of a process at rest waits for the run before a reload, and shortens its grace period", async () => {
  await using lone = await running({ restart_policy: "never" });
  const reload = lone.process.reload();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the new app" });
  lone.world.prompt = false;
  lone.world.clock.advance(1000);
  await waitFor(() => lone.world.ends.length === 1, { what: "the old app to be signalled" });
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "crashed", { what: "the end of the new app" });
  assertEquals(alive(lone), [true, false]);
  await lone.process.stop({ timeoutMs: 0 });
  await reload;
  assertEquals([alive(lone), lone.state], [[false, false], "stopped"]);
});

/** A reload to a configuration with a health check, which fails if there is a file `bad`. */
async function reloadChecked(lone: LoneProcess, keys: Record<string, unknown>): Promise<void> {
  const { config } = lone.process;
  const health_check = { type: "command", command: "[ ! -e bad ]", interval: "1s", ...keys };
  const { healthCheck } = parseConfig({ name: "app", entrypoint: "x", cwd: "/", health_check });
  const reload = lone.replaceWith({ ...config, healthCheck: healthCheck! });
  reload.catch(() => {});
  await waitFor(() => {
    lone.world.clock.advance(50);
    return lone.process.snapshot.requests.length === 0;
  }, { what: "the verdict" });
  return await reload;
}

Deno.test("reload() with overlap keeps the old app when the new one's health check fails", async () => {
  await using lone = await running();
  Deno.writeTextFileSync(`${lone.home}/bad`, "");
  await assertRejects(() => reloadChecked(lone, { retries: 1 }), ProcsupError, "unhealthy: ");
  assertEquals([alive(lone), lone.state, lone.health], [[true, false], "running", []]);
  assertEquals(lone.process.config.healthCheck, undefined);
});

Deno.test("reload() with overlap fails when the new app is not healthy for long enough in time", async () => {
  await using lone = await running({ listen_timeout: "3s" });
  Deno.writeTextFileSync(`${lone.home}/bad`, "");
  const reload = () => reloadChecked(lone, { on_failure: "none", retries: 1000 });
  await assertRejects(
    reload,
    ProcsupError,
    "not healthy for 1s within 3s: check ended with code 1",
  );
  assertEquals([alive(lone), lone.state], [[true, false], "running"]);
});

Deno.test("reload() with overlap replaces the app once the new one was healthy for min_uptime", async () => {
  await using lone = await running();
  const from = lone.world.clock.steady();
  await reloadChecked(lone, {});
  assert(lone.world.clock.steady() - from >= 1000);
  assertEquals([alive(lone), lone.state], [[false, true], "running"]);
});

Deno.test("reload() with overlap lets the time for readiness end when the new app is ready", async () => {
  await using lone = await running({ listen_timeout: "1200ms" });
  const command = "until [ -e good ]; do sleep 0.01; done";
  const { healthCheck } = parseConfig({
    ...{ name: "app", entrypoint: "x", cwd: "/" },
    health_check: { type: "command", command, timeout: "20s" },
  });
  const { config } = lone.process;
  const reload = lone.replaceWith({ ...config, waitReady: true, healthCheck: healthCheck! });
  reload.catch(() => {});
  await waitFor(() => lone.world.children.length === 2 && lone.world.clock.pending === 1);
  lone.world.clock.advance(1000);
  Deno.writeTextFileSync(`${lone.home}/good`, "");
  await waitFor(() => {
    // Its next check and a look at its record: the proof takes min_uptime.
    if (lone.world.clock.pending > 1) lone.world.clock.advance(50);
    return lone.process.snapshot.requests.length === 0;
  }, { what: "the verdict" });
  await reload;
  assertEquals([alive(lone), lone.state], [[false, true], "running"]);
});

Deno.test("untilProven() resolves after min_uptime, and rejects when the run ends before that", async () => {
  await using lone = await running({ restart_policy: "never" });
  const proven = lone.process.untilProven();
  await waitFor(() => lone.world.clock.pending === 1);
  lone.world.clock.advance(1000);
  await proven;
  const refused = assertRejects(
    () => lone.process.untilProven().finally(() => assertEquals(lone.state, "crashed")),
    ProcsupError,
    "exited with code 3",
  );
  await waitFor(() => lone.world.clock.pending === 1);
  lone.world.child.exit(3);
  await refused;
});
