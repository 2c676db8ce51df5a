/** Stop ends every process of an app, also when starts, restarts and crashes overlap with it. */

import { fromFileUrl } from "@std/path";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { commandOf, livingOf, livingWith, type RunMark, runMark } from "../fixtures/run_members.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const FIXTURES = fromFileUrl(import.meta.resolve("../fixtures"));

/** Starts a fixture under the name `app`, and returns its run once it has that many processes. */
async function startFixture(
  daemon: TestDaemon,
  fixture: string,
  { members = 2, ...config }: Record<string, unknown> & { members?: number } = {},
): Promise<RunMark & { pid: number }> {
  const entrypoint = `${FIXTURES}/${fixture}.sh`;
  const { pid } = await daemon.client.call("start", {
    name: "app",
    entrypoint,
    cwd: "/",
    ...config,
  });
  const run = { ...await runMark(pid), pid };
  // Including the wrapper.
  await waitFor(() => livingOf(run).length === members, { what: `${members} processes` });
  // A fixture has set up its signal handling when it reaches its last command.
  await waitFor(() => livingOf(run).some((pid) => commandOf(pid).startsWith("sleep")), {
    what: "the fixture to be ready",
  });
  return run;
}

Deno.test("stop kills an app that ignores SIGTERM after its stop_timeout", async () => {
  const run = await startFixture(daemon, "ignores_sigterm", { stop_timeout: "600ms" });
  await daemon.cli("stop", "app");
  assertEquals(livingOf(run), []);
  const { state, last_exit } = await daemon.status("app");
  assertEquals([state, last_exit?.signal], ["stopped", "SIGKILL"]);
});

Deno.test("stop waits for a group member that ignores SIGTERM after its leader has exited", async () => {
  const run = await startFixture(daemon, "ignoring_member", { stop_timeout: "1m", members: 3 });
  const stopping = daemon.cli("stop", "app");
  await waitFor(() => !isAlive(run.pid), { what: "the leader to end" });
  assertEquals((await daemon.status("app")).state, "stopping");
  const [member] = livingOf(run).filter((pid) => commandOf(pid).startsWith("sleep"));
  Deno.kill(member!, "SIGKILL");
  await stopping;
  assertEquals(livingOf(run), []);
  const { state, last_exit } = await daemon.status("app");
  assertEquals([state, last_exit?.code], ["stopped", 0]);
});

Deno.test("stop kills a group member that ignores SIGTERM and has cleared its environment", async () => {
  const config = { stop_timeout: "600ms", members: 3 };
  const run = await startFixture(daemon, "hides_environment", config);
  assertEquals((await daemon.cli("stop", "app")).code, 0);
  assertEquals(livingOf(run), []);
});

Deno.test("a crash terminates group members that have cleared their environment", async () => {
  const config = { stop_timeout: "600ms", members: 3, restart_policy: "never" };
  const run = await startFixture(daemon, "hides_environment", config);
  Deno.kill(run.pid, "SIGKILL");
  await waitFor(() => livingOf(run).length === 0, { what: "the group to be ended" });
  assertEquals((await daemon.status("app")).state, "crashed");
});

Deno.test("stop terminates a grandchild in its own session", async () => {
  const run = await startFixture(daemon, "forks_grandchild", { members: 3 });
  assertEquals((await daemon.cli("stop", "app")).code, 0);
  assertEquals(livingOf(run), []);
});

Deno.test("stop terminates children that hid as soon as the app started, while it runs", async () => {
  await using test = await TestManager.open();
  const hidden = `trap "" TERM; echo $$ >>${test.home}/pids; exec sleep 1000`;
  const hide = `setsid env -i sh -c '${hidden}' & setsid env -i sh -c '${hidden}' &`;
  await test.script("app", `${hide} exec sleep 1000`, { stop_timeout: "300ms" });
  const pids = () => Deno.readTextFileSync(`${test.home}/pids`).trim().split("\n").map(Number);
  await waitFor(() => pids().length === 2, { what: "the children" });
  await test.manager.stop("app");
  assertEquals(pids().filter(isAlive), []);
});

Deno.test("stop lets a suspended app handle SIGTERM", async () => {
  const env = { MARK: `${daemon.home}/mark` };
  const run = await startFixture(daemon, "waits_for_term", { env, members: 3 });
  assertEquals((await daemon.cli("signal", "STOP", "app")).code, 0);
  await waitFor(() => / T /.test(Deno.readTextFileSync(`/proc/${run.pid}/stat`)), {
    what: "the app to be suspended",
  });
  await daemon.cli("stop", "app");
  assert(Deno.statSync(`${env.MARK}.handled`).isFile);
  assertEquals(livingOf(run), []);
  assertEquals((await daemon.status("app")).last_exit?.code, 0);
});

Deno.test("stop --force does not wait for the stop_timeout", async () => {
  const run = await startFixture(daemon, "ignores_sigterm", { stop_timeout: "60s" });
  await daemon.cli("stop", "app", "--force");
  assertEquals(livingOf(run), []);
});

Deno.test("stop --force shortens a stop in progress", async () => {
  const run = await startFixture(daemon, "ignores_sigterm", { stop_timeout: "60s" });
  const patient = daemon.cli("stop", "app");
  await waitFor(async () => (await daemon.status("app")).state === "stopping", {
    what: "stopping",
  });
  await daemon.cli("stop", "app", "--force");
  assertEquals((await patient).code, 0);
  assertEquals(livingOf(run), []);
});

Deno.test("an app that has left its group, such as timeout, gets the stop signal", async () => {
  const app = { name: "app", cwd: "/", stop_timeout: "30s", args: ["1000", "sleep", "1000"] };
  await daemon.client.call("start", { ...app, entrypoint: "timeout" });
  const { pid } = await daemon.status("app");
  assertEquals((await daemon.cli("stop", "app")).code, 0);
  const { state, last_exit } = await daemon.status("app");
  assertEquals([state, last_exit?.signal, isAlive(pid)], ["stopped", "SIGTERM", false]);
});

Deno.test("an app that daemonizes leaves nothing behind, and a note is recorded", async () => {
  const mark = `MARK=${daemon.home}`;
  const { code, stderr } = await daemon.cli("start", `${FIXTURES}/daemonises.sh`, "-e", mark);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "exited with code 0 and left pid");
  const { state, last_exit } = await daemon.status("daemonises");
  assertEquals([state, last_exit?.code], ["stopped", 0]);
  await waitFor(() => livingWith(mark).length === 0, { what: "the leftover to be ended" });
  const log = () => Deno.readTextFileSync(`${daemon.home}/daemon.log`);
  await waitFor(() => /daemonises.*left pid \d+ \(sleep\) in the background/.test(log()), {
    what: "the note",
  });
});

Deno.test("stop wins over a start in progress", async () => {
  const mark = `MARK=${daemon.home}`;
  const flags = ["--name", "app", "--min-uptime", "30s", "-e", mark];
  const starting = daemon.cli("start", ...flags, "--", "sleep", "1000");
  await waitFor(async () => (await daemon.status("app")).pid > 0, { what: "a pid" });
  assertEquals((await daemon.cli("stop", "app")).code, 0);
  assertEquals((await starting).code, 1);
  assertEquals((await daemon.status("app")).state, "stopped");
  assertEquals(livingWith(mark), []);
});

Deno.test("stop right after a start leaves nothing running", async () => {
  const env = { MARK: daemon.home };
  for (let round = 0; round < 10; round++) {
    const config = {
      name: `app-${round}`,
      entrypoint: "/bin/sleep",
      args: ["1000"],
      cwd: "/",
      env,
    };
    const starting = daemon.client.call("start", config);
    await daemon.client.call("stop", { target: `app-${round}` }).catch(() => {});
    await starting.catch(() => {});
    await daemon.client.call("stop", { target: `app-${round}` });
  }
  assertEquals(livingWith(`MARK=${daemon.home}`), []);
});

Deno.test("restart during a stop wins", async () => {
  const run = await startFixture(daemon, "ignores_sigterm", { stop_timeout: "1m" });
  const stopping = daemon.cli("stop", "app");
  await waitFor(async () => (await daemon.status("app")).state === "stopping", {
    what: "stopping",
  });
  const restart = daemon.client.call("restart", "app");
  await waitFor(async () => (await daemon.status("app")).last_reason === "restarted by user");
  assertEquals((await daemon.status("app")).state, "stopping");
  Deno.kill(run.pid, "SIGKILL");
  await Promise.all([stopping, restart]);
  const now = await daemon.status("app");
  assertEquals([now.state, now.pid === run.pid], ["running", false]);
  assertEquals(livingOf(run), []);
});

Deno.test("50 concurrent restarts leave one instance, and never two", async () => {
  const env = { LOCK: `${daemon.home}/lock` };
  await startFixture(daemon, "one_at_a_time", { env });
  const restarts = Array.from({ length: 50 }, () => daemon.client.call("restart", "app"));
  await Promise.all(restarts);
  await waitFor(async () => (await daemon.status("app")).state === "running", { what: "running" });
  const holders = () =>
    livingWith(`LOCK=${env.LOCK}`).filter((pid) => commandOf(pid) === "sleep 1000");
  await waitFor(() => holders().length === 1, { what: "one instance" });
  // During exec it has no environment.
  await waitFor(() => livingWith(`LOCK=${env.LOCK}`).length === 2, {
    what: "the instance and its wrapper to be all there is",
  });
  assertEquals(holders(), [(await daemon.status("app")).pid]);
  assertEquals(await exists(`${env.LOCK}.violated`), false);
});

Deno.test("instances can be addressed individually, or all by their base name", async () => {
  const mark = `MARK=${daemon.home}`;
  const flags = ["--name", "api", "-i", "3", "-e", mark];
  const started = await daemon.cli("start", ...flags, "--", "sleep", "1000");
  assertEquals(started.code, 0, started.stderr);
  assertEquals((await daemon.cli("list", "-o", "name")).stdout, "api:0\napi:1\napi:2\n");
  const pids = async () => (await daemon.client.call("list")).map(({ pid }) => pid);
  const before = await pids();
  assertEquals((await daemon.cli("restart", "api:1")).code, 0);
  const after = await pids();
  assertEquals(after.map((pid, i) => pid === before[i]), [true, false, true]);
  const stopped = await daemon.cli("stop", "api");
  assertEquals(stopped.stdout.trimEnd().split("\n").toSorted(), [
    "✔ api:0  stopped",
    "✔ api:1  stopped",
    "✔ api:2  stopped",
  ]);
  assertEquals(livingWith(mark), []);
});

Deno.test("start treats a short successful job as a success", async () => {
  const job = ["--name", "job", "--restart", "never", "--", "sh", "-c", "exit 0"];
  const { code, stdout } = await daemon.cli("start", ...job);
  assertEquals([code, stdout], [0, "✔ job  stopped\n"]);
  const { state, last_exit, restarts } = await daemon.status("job");
  assertEquals([state, last_exit?.code, restarts], ["stopped", 0, 0]);
});

Deno.test("start prints the last output of an app that does not stay up, and exits with 1", async () => {
  const { code, stdout, stderr } = await daemon.cli(
    "start",
    `${FIXTURES}/crashes_on_start.sh`,
    "--restart-delay",
    "30s",
  );
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "exited with code 3");
  assertStringIncludes(stderr, "    cannot open the database\n    giving up\n");
  assertStringIncludes(stderr, "procsup why crashes_on_start");
});

Deno.test("an app that keeps crashing is given up after max_restarts", async () => {
  const flags = ["--max-restarts", "3", "--restart-delay", "10ms", "--no-wait"];
  await daemon.cli("start", `${FIXTURES}/crashes_on_start.sh`, "--name", "app", ...flags);
  const waited = await daemon.cli("wait", "app", "--for", "exit", "--timeout", "10s");
  assertEquals(waited.code, 3);
  const status = await daemon.cli("status", "app", "--json");
  const { state, restarts } = JSON.parse(status.stdout);
  assertEquals([status.code, state, restarts], [3, "errored", 3]);
  const runs = Deno.readTextFileSync(`${daemon.home}/apps/app/stderr.log`).match(/giving up/g);
  assertEquals(runs?.length, 4);
  assertStringIncludes((await daemon.cli("why", "app")).stdout, "app is errored");
});

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("delete keeps an app that was started again meanwhile", async () => {
  await using test = await TestManager.open();
  const slow = "trap 'sleep 0.3; exit 0' TERM; echo $$ >>pids; while :; do sleep 1000 & wait; done";
  await test.script("app", slow);
  await waitFor(() => test.lines("pids").length === 1, { what: "the app" });
  const deleting = test.supervisor.remove("app");
  await test.until("app", "stopping");
  await test.supervisor.start("app");
  const [outcome] = await deleting;
  assertEquals(outcome?.error?.message, 'Cannot delete "app": it was started meanwhile');
  const { pid, state } = test.info("app");
  assertEquals([state, isAlive(pid)], ["running", true]);
});

Deno.test("a rolling reload does not start an instance that was deleted before its turn", async () => {
  await using test = await TestManager.open();
  const app = "echo $$ >>pids; while [ -e next ] && [ ! -e ready ]; do sleep 0.1; done; " +
    'echo READY=1 >"$PROCSUP_READY_FILE"; exec sleep 1000';
  await test.script("app", app, { wait_ready: true, instances: 2 }, { wait: true });
  Deno.writeTextFileSync(`${test.home}/next`, "");
  const rolling = test.supervisor.reload("app", { waitReady: true });
  await waitFor(() => test.lines("pids").length === 3, { what: "the first to be reloaded" });
  await test.supervisor.remove("app:1");
  Deno.writeTextFileSync(`${test.home}/ready`, "");
  const { outcomes: [first, second] } = await rolling;
  assertEquals(first?.error, undefined);
  assertEquals(second?.error?.message, 'Cannot reload "app:1": it was deleted meanwhile');
  assertEquals(test.lines("pids").length, 3, "it was started");
  assertEquals(test.manager.list().map(({ name }) => name), ["app:0"]);
});

Deno.test("a shutdown under way goes on after a SIGTERM, and no upgrade takes over", async () => {
  const { pid } = await daemon.startScript("db", "exec sleep 1000");
  const slow = `trap 'sleep 1; exit 0' TERM; while :; do sleep 1000 & wait; done`;
  await daemon.startScript("api", slow, { depends_on: ["db"] });
  const shutdown = daemon.client.call("shutdown");
  await waitFor(async () => (await daemon.status("api")).state === "stopping");
  await assertRejects(() => daemon.client.call("release", {}), Error, "shutting down");
  await daemon.terminate();
  await shutdown;
  assert(!isAlive(pid));
});
