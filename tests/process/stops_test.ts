/** Stops of one process, and requests that overlap with them, in a fake world. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { sleep } from "../../src/platform/clock.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

Deno.test("stop() during a restart wins", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.world.prompt = false;
  const restart = lone.process.restart();
  await waitFor(() => lone.world.ends.length === 1);
  const stop = lone.process.stop();
  lone.world.child.exit("SIGTERM");
  await Promise.all([restart, stop]);
  assertEquals([lone.state, lone.world.children.length], ["stopped", 1]);
});

Deno.test("restart() during a stop wins, and the stop still resolves", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.world.prompt = false;
  const stop = lone.process.stop();
  const restart = lone.process.restart();
  await waitFor(() => lone.world.ends.length === 1);
  lone.world.prompt = true;
  lone.world.child.exit("SIGTERM");
  await Promise.all([stop, restart]);
  assertEquals([lone.state, lone.world.children.length], ["running", 2]);
});

Deno.test("start() during a stop launches after the old app has ended", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.world.prompt = false;
  const stop = lone.process.stop();
  const start = lone.process.start();
  await waitFor(() => lone.world.ends.length === 1);
  assertEquals([lone.state, lone.world.children.length], ["stopping", 1]);
  lone.world.prompt = true;
  lone.world.child.exit("SIGTERM");
  await Promise.all([stop, start]);
  assertEquals([lone.state, lone.world.children.length], ["running", 2]);
});

Deno.test("stop() during pre_start ends the hook and launches nothing", async () => {
  await using lone = new LoneProcess({ hooks: { pre_start: "echo $$ >hook; exec sleep 1000" } });
  const start = lone.process.start();
  const pid = () => Number(Deno.readTextFileSync(`${lone.home}/hook`));
  await waitFor(() => pid() > 0, { what: "the hook to run" });
  await lone.process.stop();
  await start;
  assertEquals([lone.state, lone.world.children.length], ["stopped", 0]);
  assertThrows(() => Deno.kill(pid(), "SIGCONT"), Deno.errors.NotFound);
  assertEquals(lone.notes, []);
});

Deno.test("stop() throws when something could not be terminated, whatever request came last", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.world.unending = [12, 34];
  const error = await assertRejects(() => lone.process.stop(), ProcsupError);
  const message = 'Cannot stop "app": could not end pid 12, 34';
  assertEquals([error.code, error.message], ["stop_failed", message]);
  assertEquals([lone.state, lone.process.snapshot.leftovers.length], ["stopped", 1]);
  lone.world.unending = [];
  await lone.process.start();
  await lone.process.stop({ reason: "could not end pid 12" });
  assertEquals([lone.state, lone.process.snapshot.endFailed], ["stopped", false]);
});

Deno.test("stop() retries when the system lacks resources, up to a limit", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  let failures = 2;
  lone.world.beforeEnd = () => {
    if (failures-- > 0) throw new Error("Too many open files");
  };
  const stop = lone.process.stop({ timeoutMs: 1000 });
  await waitFor(() => {
    lone.world.clock.advance(100);
    return lone.state === "stopped";
  });
  await stop;
  await lone.process.start();
  failures = Infinity;
  const refused = assertRejects(() => lone.process.stop(), ProcsupError);
  await waitFor(() => {
    lone.world.clock.advance(100);
    return lone.state === "stopped";
  });
  assertEquals((await refused).message, 'Cannot stop "app": could not end it: Too many open files');
});

Deno.test("two concurrent stops both resolve when everything has ended", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  lone.world.prompt = false;
  const stops = [lone.process.stop(), lone.process.stop()];
  await waitFor(() => lone.world.ends.length > 0);
  lone.world.child.exit("SIGTERM");
  await Promise.all(stops);
  assertEquals([lone.state, lone.world.ends], ["stopped", ["SIGTERM"]]);
});

Deno.test("a forced stop shortens a graceful one, and a patient one does not delay an earlier one", async () => {
  for (const [first, second, left] of [[60_000, 0, 0], [1000, 60_000, 1000]] as const) {
    await using lone = new LoneProcess();
    await lone.process.start();
    lone.world.prompt = false;
    const stop = lone.process.stop({ timeoutMs: first });
    await waitFor(() => lone.world.ends.length === 1);
    const other = lone.process.stop({ timeoutMs: second });
    lone.world.clock.advance(left);
    await Promise.all([stop, other]);
    assertEquals([lone.state, lone.process.snapshot.lastExit?.signal], ["stopped", "SIGKILL"]);
    assertEquals(lone.world.ends.length, 1);
  }
});

Deno.test("a forced stop skips a running pre_stop hook", async () => {
  await using lone = new LoneProcess({ hooks: { pre_stop: "touch hook; sleep 1000" } });
  await lone.process.start();
  const stop = lone.process.stop();
  await waitFor(() => Deno.statSync(`${lone.home}/hook`).isFile, { what: "the hook to run" });
  assertEquals(lone.world.ends, []);
  await lone.process.stop({ timeoutMs: 0 });
  await stop;
  assertEquals(lone.state, "stopped");
});

Deno.test("stop() in the same tick as an exit leaves it stopped and cancels the restart", async () => {
  for (const exitFirst of [true, false]) {
    await using lone = new LoneProcess();
    await lone.process.start();
    if (exitFirst) lone.world.child.exit(1);
    const stop = lone.process.stop();
    if (!exitFirst) lone.world.child.exit(1);
    await stop;
    lone.world.clock.advance(120_000);
    assertEquals([lone.state, lone.world.children.length], ["stopped", 1]);
    assertEquals(lone.process.snapshot.restarts, 0);
  }
});

Deno.test("stop() before readiness terminates the app and the wait for readiness", async () => {
  await using lone = new LoneProcess({ wait_ready: true });
  const start = lone.process.start({ wait: true });
  const failure = assertRejects(() => start, ProcsupError);
  await waitFor(() => lone.world.children.length === 1 && lone.world.awaitsReady);
  await lone.process.stop();
  assertEquals((await failure).message, 'Cannot start "app": stopped by user');
  assertEquals([lone.state, lone.world.awaitsReady], ["stopped", false]);
  assertEquals(lone.world.clock.pending, 0);
});

Deno.test("stop() waits for the pid, without which the signal would reach no process", async () => {
  await using lone = new LoneProcess();
  lone.world.prompt = false;
  void lone.process.start();
  await waitFor(() => lone.state === "running");
  const stop = lone.process.stop();
  await waitFor(() => lone.world.clock.pending === 1, { what: "the patience" });
  assertEquals(lone.world.ends, []);
  lone.world.clock.advance(1000);
  await waitFor(() => lone.world.ends.length === 1, { what: "the signal" });
  lone.world.child.exit("SIGTERM");
  await stop;
});

Deno.test("stop() waits for the leftovers of a crash", async () => {
  await using lone = new LoneProcess({ restart_delay: "100ms" });
  await lone.process.start();
  const cleanedUp = Promise.withResolvers<number>();
  lone.world.cleanup = cleanedUp.promise;
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  lone.world.clock.advance(100);
  let stopped = false;
  const stop = lone.process.stop().then(() => stopped = true);
  await sleep(0);
  assertEquals([lone.state, stopped], ["stopping", false]);
  cleanedUp.resolve(0);
  await stop;
  assertEquals([lone.state, lone.world.children.length], ["stopped", 1]);
});

Deno.test("stop() of a process at rest waits for the leftovers of a crash", async () => {
  await using lone = new LoneProcess({ restart_policy: "never" });
  await lone.process.start();
  const cleanedUp = Promise.withResolvers<number>();
  lone.world.cleanup = cleanedUp.promise;
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "crashed");
  let stopped = false;
  const stop = lone.process.stop().then(() => stopped = true);
  await sleep(0);
  assertEquals([lone.state, stopped], ["stopped", false]);
  assertEquals(lone.process.snapshot.leftovers.length, 1);
  cleanedUp.resolve(1);
  await stop;
  assertEquals(lone.process.snapshot.leftovers, []);
});

Deno.test("stop() reports the exit that is on file when its event did not arrive in time", async () => {
  await using lone = new LoneProcess();
  await lone.process.start();
  const at = new Date(0);
  lone.world.exitOf = () => ({ code: 3, signal: null, at });
  // The run ends without an exit event, because the daemon itself had been suspended.
  lone.world.terminate = () => Promise.resolve({ killed: false, left: [] });
  const stop = lone.process.stop();
  await waitFor(() => lone.world.clock.pending > 0, { what: "the patience" });
  lone.world.clock.advance(500);
  await stop;
  assertEquals(lone.process.snapshot.lastExit, { code: 3, signal: null, at });
});

Deno.test("a background hook is on record as due until it has begun", async () => {
  await using lone = new LoneProcess({ hooks: { post_start: "true", post_stop: "true" } });
  const due: string[] = [];
  lone.onRecord = ({ dueHooks }) => {
    if (due.at(-1) !== dueHooks.join()) due.push(dueHooks.join());
  };
  await lone.process.start();
  await waitFor(() => due.length === 3, { what: "post_start to begin" });
  await lone.process.stop();
  await waitFor(() => due.length === 5, { what: "post_stop to begin" });
  assertEquals(due, ["", "postStart", "", "postStop", ""]);
});

Deno.test("stop() does not call `then` once the process was started again", async () => {
  await using lone = new LoneProcess({ restart_policy: "never" });
  const { process, world } = lone;
  await process.start();
  const gone = Promise.withResolvers<number>();
  world.cleanup = gone.promise;
  world.child.exit(0);
  await waitFor(() => lone.state === "stopped");
  let called = 0;
  const then = () => Promise.resolve(void called++);
  const stop = process.stop({ then });
  const start = process.start();
  gone.resolve(0);
  await Promise.all([stop, start]);
  assertEquals([lone.state, called], ["running", 0]);
  await process.stop({ then });
  assertEquals(called, 1);
});
