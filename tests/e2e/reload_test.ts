/** Reload and scale with real processes: by signal, by stop and start, rolling, and rolled back. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/mod.ts";
import { sleep } from "../../src/platform/clock.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** Ready at once unless VERSION is `bad`; prints its version. */
const APP = 'echo "$PROCSUP_NAME $VERSION" >>order; [ "$VERSION" = bad ] || ' +
  '{ [ -e bad ] && [ "$PROCSUP_INSTANCE" = 1 ]; } || ' +
  'echo READY=1 >"$PROCSUP_READY_FILE"; exec sleep 1000';
const READY = { wait_ready: true, listen_timeout: "2s", env: { VERSION: "1" } };

/** Four ready instances. */
async function four(test: TestManager): Promise<number[]> {
  await test.script("api", APP, { ...READY, instances: 4 }, { wait: true });
  return test.pids("api");
}

function versions(test: TestManager): (string | undefined)[] {
  return test.instances("api").map(({ config }) => config.env.VERSION);
}

Deno.test("reload by signal reaches only the app, which keeps its pid", async () => {
  await using test = await TestManager.open();
  const app = "trap 'echo hup >>order' HUP; echo up >>order; while :; do sleep 1000 & wait; done";
  const { pid } = await test.script("app", app, { reload_signal: "SIGHUP" });
  await waitFor(() => test.lines("order").length === 1, { what: "the app to be up" });
  await test.manager.reload("app");
  await waitFor(() => test.lines("order")[1] === "hup", { what: "the signal" });
  assertEquals([test.info("app").pid, test.info("app").restarts], [pid, 0]);
});

Deno.test("reload without a signal stops the app and starts it with the new configuration", async () => {
  await using test = await TestManager.open();
  const { pid } = await test.script("app", "exec sleep 1000");
  await test.manager.reload("app");
  const now = test.info("app");
  assert(now.pid !== pid && !isAlive(pid) && isAlive(now.pid));
  assertEquals([now.restarts, now.lastReason], [0, "reloaded by user"]);
});

Deno.test("reload of a stopped app fails with a signal, and starts it without one", async () => {
  await using test = await TestManager.open();
  await test.script("signal", "exec sleep 1000", { reload_signal: "SIGHUP" });
  await test.script("plain", "exec sleep 1000");
  await test.supervisor.stop("all");
  const error = await assertRejects(() => test.manager.reload("signal"), ProcsupError);
  assertEquals(error.code, "wrong_state");
  await test.manager.reload("plain");
  assertEquals([test.info("signal").state, test.info("plain").state], ["stopped", "running"]);
});

Deno.test("reload by signal fails if the signal kills the app, and spares the other instances", async () => {
  await using test = await TestManager.open();
  // On a busy machine its exit is noticed late.
  const config = {
    reload_signal: "SIGHUP",
    instances: 3,
    restart_policy: "never",
    min_uptime: "20s",
  };
  await test.script("app", "exec sleep 1000", config);
  const { outcomes } = await test.supervisor.reload("app");
  assertEquals(outcomes.map(({ error }) => error?.code), ["start_failed"]);
  const message = 'Cannot reload "app:0": it did not survive SIGHUP: ended by SIGHUP';
  assertEquals(outcomes[0]!.error?.message, message);
  assertEquals(test.instances("app").map(({ state }) => state), ["crashed", "running", "running"]);
});

Deno.test("reload by signal restarts a starting or stopping app, which may not handle the signal yet", async () => {
  await using test = await TestManager.open();
  const app =
    "echo begun >>log; while [ ! -e gate ]; do sleep 0.1; done; trap 'echo hup >>log' HUP; " +
    "trap 'echo term >>log; while [ ! -e end ]; do sleep 0.1; done; exit 0' TERM; echo up; " +
    "while :; do sleep 1000 & wait; done";
  const starting = test.script("app", app, {
    ...{ reload_signal: "SIGHUP", ready_log: "^up$", restart_policy: "never" },
  }, { wait: true });
  await waitFor(() => test.lines("log").length === 1, { what: "the first run" });
  const reloading = test.supervisor.reload("app", { wait: true });
  await waitFor(() => test.lines("log").length === 2, { what: "the second run" });
  Deno.writeTextFileSync(`${test.home}/gate`, "");
  await starting;
  assertEquals((await reloading).outcomes[0]!.error, undefined);
  const stopping = test.supervisor.stop("app");
  await waitFor(() => test.lines("log").includes("term"), { what: "the stop" });
  const again = test.supervisor.reload("app", { wait: true });
  Deno.writeTextFileSync(`${test.home}/end`, "");
  await Promise.all([stopping, again]);
  assertEquals(test.lines("log"), ["begun", "begun", "term", "begun"]);
  assertEquals(test.info("app").state, "running");
});

Deno.test("reload of several instances goes one by one, and stops at the first failure", async () => {
  await using test = await TestManager.open();
  const before = await four(test);
  await test.script("other", "exec sleep 1000");
  let over = false;
  const reloading = test.supervisor.reload("all").finally(() => over = true);
  while (!over) {
    const running = test.instances("api").filter(({ state }) => state === "running");
    assert(running.length >= 3, `${running.length} of 4 run`);
    await sleep(2);
  }
  assertEquals((await reloading).outcomes.length, 5);
  const after = test.pids("api");
  assertEquals(after.filter((pid) => before.includes(pid)), []);

  Deno.writeTextFileSync(`${test.home}/bad`, "");
  const { outcomes } = await test.supervisor.reload("api");
  assertEquals(outcomes.map(({ error }) => error?.code), [undefined, "start_failed"]);
  assertEquals(test.pids("api").slice(2), after.slice(2));
});

Deno.test("rolling reload never has more than a batch down, for each batch size", async () => {
  for (const [batchSize, most] of [[1, 1], [2, 2], ["50%", 2]] as const) {
    await using test = await TestManager.open();
    const before = await four(test);
    let over = false;
    const rolling = test.supervisor.reload("api", { batchSize, waitReady: true }).finally(() =>
      over = true
    );
    let mostDown = 0;
    await waitFor(() => {
      const down = test.instances("api").filter(({ ready }) => !ready).length;
      mostDown = Math.max(mostDown, down);
      return over;
    });
    const { outcomes, rolledBack } = await rolling;
    assertEquals([outcomes.length, rolledBack], [4, false]);
    assert(mostDown <= most, `${mostDown} were down`);
    assert(test.pids("api").every((pid, index) => pid !== before[index]));
  }
});

Deno.test("rolling reload rejects an invalid batch size or configuration, and changes nothing", async () => {
  await using test = await TestManager.open();
  const before = await four(test);
  for (const batchSize of [0, 99, -1, "x", "0.5"]) {
    const reload = () => test.supervisor.reload("api", { batchSize, waitReady: true });
    const error = await assertRejects(reload, ProcsupError);
    assertEquals(error.code, "bad_request");
  }
  for (const keys of [{ wait_raedy: true }, { cwd: "/absent" }, { entrypoint: "/absent" }]) {
    const reload = () => test.supervisor.reconfigure("api", { keys });
    const error = await assertRejects(reload, ProcsupError);
    assertEquals(error.code, "invalid_config", JSON.stringify(keys));
  }
  assertEquals([test.pids("api"), versions(test)], [before, ["1", "1", "1", "1"]]);
});

Deno.test("rolling reload gives every instance the new configuration", async () => {
  await using test = await TestManager.open();
  await four(test);
  await test.supervisor.reconfigure("api", { batchSize: 2, keys: { env: { VERSION: "2" } } });
  assertEquals(versions(test), ["2", "2", "2", "2"]);
  const told = test.lines("order").slice(4).toSorted();
  assertEquals(told, ["api:0 2", "api:1 2", "api:2 2", "api:3 2"]);
  assertEquals(test.manager.list().map(({ state }) => state), Array(4).fill("running"));
});

Deno.test("rolling reload restores the old configuration when a release never becomes ready", async () => {
  await using test = await TestManager.open();
  const before = await four(test);
  const { outcomes, rolledBack } = await test.supervisor.reconfigure("api", {
    batchSize: 2,
    rollbackOnFailure: true,
    keys: { env: { VERSION: "bad" } },
  });
  assertEquals(rolledBack, true);
  assertEquals(outcomes.map(({ error }) => error?.code), ["start_failed", "start_failed"]);
  const now = test.instances("api");
  assertEquals(now.map(({ state, ready }) => [state, ready]), Array(4).fill(["running", true]));
  assertEquals(versions(test), ["1", "1", "1", "1"]);
  assertEquals(test.pids("api").map((pid, i) => pid === before[i]), [false, false, true, true]);
});

Deno.test("rolling reload rolls back in batches, so that most instances always serve", async () => {
  for (const overlap of [false, true]) {
    await using test = await TestManager.open();
    const app = '[ "$PROCSUP_INSTANCE$VERSION" != 32 ] || exit 1; sleep 0.1; ' +
      'echo READY=1 >"$PROCSUP_READY_FILE"; exec sleep 1000';
    await test.script("api", app, { ...READY, overlap, instances: 4 }, { wait: true });
    const from = test.changes.length;
    const { rolledBack } = await test.supervisor.reconfigure("api", {
      rollbackOnFailure: true,
      keys: { env: { VERSION: "2" } },
    });
    assertEquals([rolledBack, versions(test)], [true, ["1", "1", "1", "1"]]);
    const down = new Set<string>();
    let most = 0;
    for (const { name, state } of test.changes.slice(from)) {
      if (state === "running") down.delete(name);
      else down.add(name);
      most = Math.max(most, down.size);
    }
    assertEquals(most, overlap ? 0 : 1, `down at once with overlap ${overlap}`);
  }
});

Deno.test("rolling reload without rollback stops at the failure", async () => {
  await using test = await TestManager.open();
  await four(test);
  const keys = { env: { VERSION: "bad" } };
  const { rolledBack } = await test.supervisor.reconfigure("api", { keys });
  assertEquals(rolledBack, false);
  const states = test.instances("api").map(({ state }) => state);
  assertEquals(states, ["waiting", "running", "running", "running"]);
  assertEquals(versions(test), ["bad", "1", "1", "1"]);
});

Deno.test("rolling_reload of the socket returns results, rolled_back, and errors with reasons", async () => {
  const words = { name: "api", entrypoint: "/bin/sh", args: ["-c", APP], cwd: daemon.home };
  await daemon.client.call("start", { ...words, ...READY, instances: 2 });
  const good = await daemon.client.call("rolling_reload", { target: "api", batch_size: "50%" });
  assertEquals([good.status, good.rolled_back], ["reloaded", false]);
  assertEquals(good.results.map(({ name, ok }) => [name, ok]), [["api:0", true], ["api:1", true]]);
  const bad = await daemon.client.call("reconfigure", {
    target: "api",
    rollback_on_failure: true,
    config: { env: { VERSION: "bad" } },
  });
  assertEquals([bad.status, bad.rolled_back], ["rolled_back", true]);
  assert(bad.results[0]!.error!.includes("not ready within 2s"), bad.results[0]!.error);
  const refused = daemon.client.call("rolling_reload", { target: "api", batch_size: 3 });
  await assertRejects(() => refused, Error, 'Invalid "batch_size" 3');
});

Deno.test("scale 1 → 3 → 2 keeps running apps, moves their logs, and survives the daemon", async () => {
  const script = 'echo "begun as $PROCSUP_NAME"; exec sleep 1000';
  const { pid } = await daemon.startScript("api", script);
  const log = (name: string) => `${daemon.home}/apps/${name}/stdout.log`;
  await waitFor(() => Deno.readTextFileSync(log("api")) !== "", { what: "output" });
  await daemon.client.call("scale", { target: "api", instances: 3 });
  const names = async () => (await daemon.client.call("list")).map(({ name }) => name);
  assertEquals(await names(), ["api:0", "api:1", "api:2"]);
  assertEquals((await daemon.status("api:0")).pid, pid);
  assertEquals(Deno.readTextFileSync(log("api:0")), "begun as api\n", "the log moved along");
  await waitFor(() => Deno.readTextFileSync(log("api:2")) !== "", { what: "output" });
  assertEquals(Deno.readTextFileSync(log("api:2")), "begun as api:2\n");
  const last = (await daemon.status("api:2")).pid;

  await daemon.client.call("scale", { target: "api", instances: "-1" });
  assertEquals(await names(), ["api:0", "api:1"]);
  assertEquals(isAlive(last), false);

  await daemon.kill();
  await daemon.run();
  assertEquals(await names(), ["api:0", "api:1"]);
  assertEquals((await daemon.status("api:0")).pid, pid);
  for (const instances of ["0", 0, "-9", "x", 2000]) {
    const scaled = daemon.client.call("scale", { target: "api", instances });
    await assertRejects(() => scaled, Error, "Cannot scale to");
  }
  assertEquals(await names(), ["api:0", "api:1"]);
});

Deno.test("scale moves the log of an app that keeps writing to it", async () => {
  await using test = await TestManager.open();
  const app = "n=0; while :; do n=$((n+1)); echo $n; sleep 0.01; done";
  await test.script("api", app);
  const lines = (name: string) => test.lines(`apps/${name}/stdout.log`);
  await waitFor(() => lines("api").length > 5, { what: "some lines" });
  await test.supervisor.scale("api", "+1");
  const moved = lines("api:0").length;
  await waitFor(() => lines("api:0").length > moved + 5, { what: "more lines" });
  assertEquals(lines("api:0").map(Number), lines("api:0").map((_, index) => index + 1));
});
