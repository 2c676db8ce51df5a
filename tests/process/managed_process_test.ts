/** The actor in a fake world: starts, exits, and requests that cross. */

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { dirname } from "@std/path";
import { ProcsupError } from "../../src/model/errors.ts";
import { NEW } from "../../src/model/process_state.ts";
import { sleep } from "../../src/platform/clock.ts";
import { FIRST_PID } from "../support/fake_world.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

function code(error: Error): string {
  return (error as ProcsupError).code;
}

Deno.test("start() resolves only when the pid is known", async () => {
  await using lone = new LoneProcess();
  lone.world.prompt = false;
  let started = false;
  const start = lone.process.start().then(() => started = true);
  await waitFor(() => lone.world.children.length === 1);
  assertEquals([lone.state, started], ["running", false]);
  lone.world.child.begin();
  await start;
  assertEquals(lone.process.info().pid, FIRST_PID + 1);
});

Deno.test("start() launches once for two concurrent calls, and does nothing while running", async () => {
  await using lone = new LoneProcess();
  await Promise.all([lone.process.start(), lone.process.start()]);
  await lone.process.start();
  assertEquals(lone.world.children.length, 1);
  assertEquals(lone.states, ["starting", "running"]);
});

Deno.test("start() waits while many others are being launched, and a stop cancels the wait", async () => {
  await using lone = new LoneProcess();
  const turn = Promise.withResolvers<void>();
  lone.world.busyLaunching = turn.promise;
  const start = lone.process.start();
  await sleep(0);
  assertEquals([lone.state, lone.world.children.length], ["starting", 0]);
  const stop = lone.process.stop();
  lone.world.busyLaunching = undefined;
  turn.resolve();
  await Promise.allSettled([start, stop]);
  assertEquals([lone.state, lone.world.children.length], ["stopped", 0]);
});

Deno.test("release() leaves no timer of a restart that is due", async () => {
  await using lone = new LoneProcess({ restart_delay: "1m" });
  await lone.process.start();
  lone.world.child.exit(3);
  await waitFor(() => lone.state === "waiting");
  assertEquals(lone.world.clock.pending, 1);
  lone.process.release();
  assertEquals(lone.world.clock.pending, 0);
});

Deno.test("release() cancels a pending launch, of which the next supervisor would not know", async () => {
  await using lone = new LoneProcess();
  const turn = Promise.withResolvers<void>();
  lone.world.busyLaunching = turn.promise;
  void lone.process.start().catch(() => {});
  await sleep(0);
  assertEquals(lone.state, "starting");
  lone.process.release();
  lone.world.busyLaunching = undefined;
  turn.resolve();
  await sleep(0);
  assertEquals(lone.world.children.length, 0);
});

Deno.test("start() waits for min_uptime with `wait`", async () => {
  await using lone = new LoneProcess({ min_uptime: "2s" });
  const start = lone.process.start({ wait: true });
  await waitFor(() => lone.state === "running");
  await waitFor(() => lone.world.clock.pending === 1, { what: "the timer of min_uptime" });
  lone.world.clock.advance(2000);
  await start;
  assertEquals(lone.world.clock.pending, 0);
});

Deno.test("start() fails with `wait` when the app does not stay up", async () => {
  await using lone = new LoneProcess();
  const start = assertRejects(() => lone.process.start({ wait: true }), ProcsupError);
  await waitFor(() => lone.state === "running");
  lone.world.child.exit(3);
  const error = await start;
  assertEquals([code(error), error.message], [
    "start_failed",
    'Cannot start "app": exited with code 3',
  ]);
});

Deno.test("start() fails when an app ends within min_uptime and that is noticed later", async () => {
  await using lone = new LoneProcess({ min_uptime: "2s" });
  const start = assertRejects(() => lone.process.start({ wait: true }), ProcsupError);
  await waitFor(() => lone.state === "running");
  await waitFor(() => lone.world.clock.pending === 1, { what: "the timer of min_uptime" });
  lone.world.child.end();
  lone.world.clock.advance(2000);
  lone.world.child.exit(3);
  assertEquals((await start).message, 'Cannot start "app": exited with code 3');
});

Deno.test("start() fails when an app exits well before min_uptime, unless it is a job", async () => {
  const startOf = async (config: Record<string, unknown>) => {
    await using lone = new LoneProcess(config);
    const start = lone.process.start({ wait: true });
    await waitFor(() => lone.state === "running");
    lone.world.child.exit(0);
    return await start.then(() => "", ({ message }) => message);
  };
  const ended = 'Cannot start "app": exited with code 0 before min_uptime 1s';
  assertEquals(await startOf({}), ended);
  assertEquals(
    await startOf({ restart_policy: "always" }),
    'Cannot start "app": exited with code 0',
  );
  assertEquals(await startOf({ restart_policy: "never" }), "");
});

Deno.test("start() keeps waiting through a restart, and its error names who stopped the app", async () => {
  await using lone = new LoneProcess({ min_uptime: "2s" });
  const runs = async (children: number) => {
    await waitFor(() => lone.state === "running" && lone.world.children.length === children);
    await waitFor(() => lone.world.clock.pending === 1, { what: "the timer of min_uptime" });
  };
  const start = lone.process.start({ wait: true });
  await runs(1);
  await lone.process.restart();
  await runs(2);
  lone.world.clock.advance(2000);
  await start;
  const stopped = assertRejects(() => lone.process.restart({ wait: true }), ProcsupError);
  await runs(3);
  await lone.process.stop();
  const { message, hint } = await stopped;
  assertEquals([message, hint], ['Cannot start "app": stopped by user', undefined]);
});

Deno.test("start() fails when the system refuses the launch", async () => {
  await using lone = new LoneProcess();
  lone.world.beforeLaunch = () => {
    throw new ProcsupError("start_failed", "The system refused: no more processes");
  };
  const error = await assertRejects(() => lone.process.start(), ProcsupError);
  assertEquals(error.message, 'Cannot start "app": The system refused: no more processes');
  assertEquals([lone.state, lone.process.snapshot.run], ["errored", null]);
});

Deno.test("start() launches nothing when the launch cannot be recorded", async () => {
  await using lone = new LoneProcess();
  lone.onRecord = ({ run }) => {
    if (run !== null) throw new Error("no space left on device");
  };
  const error = await assertRejects(() => lone.process.start(), ProcsupError);
  assertEquals(
    error.message,
    'Cannot start "app": no space left on device',
  );
  assertEquals([lone.state, lone.world.children.length], ["errored", 0]);
});

Deno.test("an app is stopped, with a note, when only a later state cannot be recorded", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.onRecord = () => {
    throw new Error("no space left on device");
  };
  await lone.process.stop();
  assertEquals([lone.state, lone.world.child.alive], ["stopped", false]);
  assertEquals(lone.notes, [
    "stopping: no space left on device",
    "stopped: no space left on device",
  ]);
});

Deno.test("an intended launch is on record before the launch", async () => {
  await using lone = new LoneProcess();
  const recorded: (string | undefined)[] = [];
  lone.onRecord = ({ run }) => recorded.push(run?.runId);
  lone.world.beforeLaunch = ({ runId }) => assertEquals(recorded.at(-1), runId);
  await lone.process.start();
});

Deno.test("restart() during a restart delay launches at once, and the delay launches nothing", async () => {
  await using lone = new LoneProcess({ restart_delay: "10s" });
  await lone.process.start();
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  await lone.process.restart();
  assertEquals([lone.state, lone.world.children.length], ["running", 2]);
  lone.world.clock.advance(60_000);
  assertEquals([lone.world.children.length, lone.process.snapshot.restarts], [2, 0]);
});

Deno.test("start() waits for readiness and fails with the reason when it times out", async () => {
  await using lone = new LoneProcess({ wait_ready: true, listen_timeout: "3s" });
  const start = lone.process.start({ wait: true });
  await waitFor(() => lone.world.children.length === 1 && lone.world.awaitsReady);
  lone.world.clock.advance(2999);
  lone.world.sayReady();
  await start;
  assertEquals([lone.state, lone.world.clock.pending], ["running", 0]);
  const failure = assertRejects(() => lone.process.restart({ wait: true }), ProcsupError);
  await waitFor(() => lone.world.children.length === 2 && lone.world.awaitsReady);
  lone.world.clock.advance(3000);
  assertEquals(
    (await failure).message,
    'Cannot start "app": not ready within 3s: waited for READY=1, by sd_notify or in $PROCSUP_READY_FILE',
  );
  assertEquals([lone.state, lone.world.child.alive], ["waiting", false]);
});

Deno.test("a crash launches nothing until its leftovers are gone", async () => {
  await using lone = new LoneProcess({ restart_delay: "100ms" });
  await lone.process.start();
  const cleanedUp = Promise.withResolvers<number>();
  lone.world.cleanup = cleanedUp.promise;
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  lone.world.clock.advance(100);
  assertEquals([lone.state, lone.world.children.length], ["starting", 1]);
  cleanedUp.resolve(2);
  await waitFor(() => lone.world.children.length === 2);
  assertEquals(lone.notes, ["ended 2 processes that it left behind"]);
});

Deno.test("a crash launches nothing, and a stop fails, while the scan for its leftovers fails", async () => {
  await using lone = new LoneProcess({ restart_delay: "100ms" });
  await lone.process.start();
  const refusal = Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  lone.world.cleanup = Promise.reject(refusal);
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  lone.world.clock.advance(100);
  await waitFor(() => lone.state === "waiting", { what: "the launch to be refused" });
  assertEquals(lone.world.children.length, 1);
  const stop = () => lone.process.stop();
  await assertRejects(stop, ProcsupError, "cannot look for what it left behind");
  lone.world.cleanup = Promise.resolve(1);
  lone.world.clock.advance(1000);
  await waitFor(() => lone.notes.includes("ended 1 process that it left behind"));
  await lone.process.start();
  assertEquals([lone.state, lone.world.children.length], ["running", 2]);
});

Deno.test("max_age replaces the app and counts as a restart", async () => {
  await using lone = new LoneProcess({ max_age: "1h" });
  await lone.process.start();
  lone.world.clock.advance(3_599_999);
  assertEquals(lone.state, "running");
  lone.world.clock.advance(1);
  await waitFor(() => lone.world.children.length === 2 && lone.state === "running");
  const { restarts, lastReason } = lone.process.snapshot;
  assertEquals([restarts, lastReason], [1, "reached its max_age"]);
  assertEquals(lone.world.ends, ["SIGTERM"]);
});

Deno.test("max_age counts from the start when the app is adopted", async () => {
  const run = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };
  const startedAt = Date.UTC(2026, 0, 1, 12) - 3_000_000;
  const running = { ...NEW, state: "running", desired: "up", attempt: 1, ready: true } as const;
  await using lone = new LoneProcess({ max_age: "1h" }, { ...running, run, pid: 1001, startedAt });
  const found = { kind: "alive", run, pid: 1001 } as const;
  lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
  lone.world.clock.advance(599_999);
  assertEquals([lone.state, lone.process.run.uptimeMs], ["running", 3_599_999]);
  lone.world.clock.advance(1);
  await waitFor(() => lone.world.children.length === 2, { what: "another app" });
});

Deno.test("an adopted app that was not ready has its listen_timeout again", async () => {
  const run = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };
  const startedAt = Date.UTC(2026, 0, 1, 12) - 2000;
  const starting = { ...NEW, state: "starting", desired: "up", attempt: 1 } as const;
  const config = { wait_ready: true, listen_timeout: "3s" };
  await using lone = new LoneProcess(config, { ...starting, run, pid: 1001, startedAt });
  const found = { kind: "alive", run, pid: 1001 } as const;
  lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
  assertEquals([lone.state, lone.world.awaitsReady], ["starting", true]);
  lone.world.clock.advance(2999);
  assertEquals(lone.state, "starting");
  lone.world.clock.advance(1);
  await waitFor(() => lone.state === "waiting");
  assertEquals(
    lone.process.snapshot.lastReason,
    "not ready within 3s: waited for READY=1, by sd_notify or in $PROCSUP_READY_FILE",
  );
});

for (
  const [sign, config] of Object.entries({
    "a line of its log": { ready_log: "^up$" },
    "a health check": {
      wait_ready: true,
      health_check: { type: "command", command: "sleep 0.1; test -e up" },
    },
  })
) {
  Deno.test(`an adopted app that became ready by ${sign} while no daemon ran is not late`, async () => {
    for (const isUp of [true, false]) {
      const run = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };
      const startedAt = Date.UTC(2026, 0, 1, 12) - 60_000;
      const starting = { ...NEW, state: "starting", desired: "up", attempt: 1 } as const;
      const limits = { ...config, listen_timeout: "3s" };
      await using lone = new LoneProcess(limits, { ...starting, run, pid: 1001, startedAt });
      const { stdout } = lone.process.logs;
      await Deno.mkdir(dirname(stdout), { recursive: true });
      await Deno.writeTextFile(stdout, isUp ? "one\nup\n" : "one\n");
      if (isUp) await Deno.writeTextFile(`${lone.home}/up`, "");
      const found = { kind: "alive", run, pid: 1001 } as const;
      lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
      await waitFor(() => {
        lone.world.clock.advance(100);
        return lone.state !== "starting" && lone.state !== "stopping";
      });
      assertEquals(lone.state, isUp ? "running" : "waiting");
    }
  });
}

Deno.test("an adopted app whose checks do not end is late after another listen_timeout", async () => {
  const run = { runId: "run", wrapperPid: 1000, wrapperStart: "1", bootId: "boot" };
  const startedAt = Date.UTC(2026, 0, 1, 12) - 60_000;
  const starting = { ...NEW, state: "starting", desired: "up", attempt: 1 } as const;
  const health_check = { type: "command", command: "sleep 1000", timeout: "1h" };
  const config = { wait_ready: true, listen_timeout: "3s", health_check };
  await using lone = new LoneProcess(config, { ...starting, run, pid: 1001, startedAt });
  const found = { kind: "alive", run, pid: 1001 } as const;
  lone.process.post({ type: "recovered", at: lone.world.clock.now(), found });
  lone.world.clock.advance(2999);
  assertEquals(lone.state, "starting");
  lone.world.clock.advance(101);
  await waitFor(() => lone.state === "waiting", { what: "the timeout" });
});

Deno.test("dependencies are awaited before the launch, and a stop cancels the wait", async () => {
  await using lone = new LoneProcess({ depends_on: ["db"] });
  const aborted = Promise.withResolvers<void>();
  lone.onDependencies = (signal) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
  };
  await lone.process.start();
  assertEquals([lone.state, lone.process.snapshot.lastReason], ["waiting", "waiting for db"]);
  await lone.process.stop();
  await aborted.promise;
  assertEquals([lone.state, lone.world.children.length], ["stopped", 0]);
});

Deno.test("start() fails with the reason when a dependency failed", async () => {
  await using lone = new LoneProcess({ depends_on: ["db"] });
  lone.onDependencies = () => Promise.reject(new Error('depends on "db", which is errored'));
  const error = await assertRejects(() => lone.process.start({ wait: true }), ProcsupError);
  assertEquals(error.message, 'Cannot start "app": depends on "db", which is errored');
  assertEquals([lone.state, lone.world.children.length], ["errored", 0]);
});

Deno.test("start() waits for its dependencies and then for the pid of its own launch", async () => {
  await using lone = new LoneProcess({ depends_on: ["db"] });
  const met = Promise.withResolvers<void>();
  lone.onDependencies = () => met.promise;
  const start = lone.process.start({ wait: true });
  met.resolve();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the timer of min_uptime" });
  lone.world.clock.advance(1000);
  await start;
  assertEquals([lone.state, lone.process.snapshot.restarts], ["running", 0]);
});

Deno.test("reload() sends the reload signal and stops nothing", async () => {
  await using lone = new LoneProcess({ reload_signal: "SIGHUP" });
  await lone.process.start();
  await lone.process.reload();
  assertEquals([lone.world.child.signals, lone.world.ends], [["SIGHUP"], []]);
  await lone.process.stop();
  const error = await assertRejects(() => lone.process.reload(), ProcsupError);
  assertEquals(code(error), "wrong_state");
});

Deno.test("reload() without a signal stops and starts, without counting a restart", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  await lone.process.reload();
  assertEquals([lone.state, lone.world.children.length], ["running", 2]);
  const { restarts, lastReason } = lone.process.snapshot;
  assertEquals([restarts, lastReason], [0, "reloaded by user"]);
});

Deno.test("signal() reaches only the app, and fails when nothing runs", async () => {
  await using lone = new LoneProcess();
  assertThrows(() => lone.process.signal("SIGUSR1"), ProcsupError, "it is not running");
  await lone.process.start();
  lone.process.signal("SIGUSR1");
  assertEquals(lone.world.child.signals, ["SIGUSR1"]);
});

Deno.test("another generation takes effect at the next start", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.configure({ args: ["7"] });
  assertEquals(lone.world.child.spec?.argv, ["/bin/sleep"]);
  await lone.process.restart();
  assertEquals(lone.world.child.spec?.argv, ["/bin/sleep", "7"]);
});

Deno.test("release() leaves no timer behind, and the app keeps running", async () => {
  await using lone = new LoneProcess({ max_age: "1h", wait_ready: true });
  void lone.process.start();
  await waitFor(() => lone.world.children.length === 1 && lone.world.awaitsReady);
  lone.process.release();
  assertEquals([lone.world.clock.pending, lone.world.child.alive], [0, true]);
  lone.world.clock.advance(10_000_000);
  assert(lone.world.child.alive);
});

Deno.test("until() rejects when its signal is aborted", async () => {
  await using lone = new LoneProcess();
  const abort = new AbortController();
  const waiting = lone.process.until(({ state }) => state === "running", abort.signal);
  abort.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
});

for (const [verb, hook] of [["restart", "pre_restart"], ["reload", "pre_reload"]] as const) {
  Deno.test(`stop() during ${hook} wins: no ${verb} follows`, async () => {
    for (const runs of [true, false]) {
      await using lone = new LoneProcess({ hooks: { [hook]: "touch begun; cat gate" } });
      if (runs) await lone.process.start();
      await new Deno.Command("mkfifo", { args: [`${lone.home}/gate`] }).output();
      const refused = assertRejects(() => lone.process[verb](), ProcsupError, "it was stopped");
      await waitFor(() => Deno.statSync(`${lone.home}/begun`).isFile, { what: "the hook" });
      await lone.process.stop();
      await Deno.writeTextFile(`${lone.home}/gate`, "");
      await refused;
      assertEquals([lone.state, lone.world.children.length], ["stopped", runs ? 1 : 0]);
    }
  });
}

Deno.test("hooks that cannot run because their env_file is missing are recorded and stop nothing", async () => {
  const hooks = { post_start: "true", pre_stop: "true", post_stop: "true", pre_restart: "true" };
  await using lone = new LoneProcess({ env_file: ".env", hooks });
  await Deno.writeTextFile(`${lone.home}/.env`, "A=1\n");
  await lone.process.start();
  await Deno.remove(`${lone.home}/.env`);
  await lone.process.stop();
  await waitFor(() => lone.notes.length >= 2, { what: "the notes" });
  assertMatch(lone.notes[0]!, /^pre_stop hook cannot run: .*env_file .* cannot be read/);
  assertEquals(lone.state, "stopped");
  await assertRejects(() => lone.process.restart(), ProcsupError, "cannot be read");
  assertEquals(lone.state, "errored");
});

Deno.test("pre_start runs if it is configured while a start waits for what earlier runs left", async () => {
  await using lone = new LoneProcess({ restart_delay: "1ms" });
  const { process, world } = lone;
  await process.start();
  const gone = Promise.withResolvers<number>();
  world.cleanup = gone.promise;
  world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  world.clock.advance(10);
  assertEquals(lone.state, "starting");
  const hook = { command: "touch ran", timeoutMs: 5000, ignoreFailure: false, runAsRoot: false };
  lone.configure({ hooks: { preStart: hook } });
  gone.resolve(0);
  await waitFor(() => lone.state === "running");
  assertEquals([...Deno.readDirSync(lone.home)].some(({ name }) => name === "ran"), true);
});

Deno.test("start() with wait fails for an app that runs, but not for long", async () => {
  await using lone = new LoneProcess({ min_uptime: "1s", restart_policy: "never" });
  const { process, world } = lone;
  await process.start();
  const refused = assertRejects(() => process.start({ wait: true }), ProcsupError, "code 3");
  await new Promise((resolve) => setTimeout(resolve));
  world.clock.advance(500);
  world.child.exit(3);
  await refused;
  await process.start();
  world.clock.advance(2000);
  const waiting = process.start({ wait: true });
  await waitFor(() => world.clock.pending === 1);
  world.clock.advance(0);
  await waiting;
});
