/** Ordered starts and stops, with real processes and a daemon. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/mod.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** Writes its name when it starts and when it is terminated. */
function member(name: string, begin = ""): string {
  return `trap 'echo ${name} ends >>order; exit 0' TERM; echo ${name} >>order; ${begin} ` +
    `${SAYS_READY} sleep 1000 & wait`;
}

const SAYS_READY = 'echo READY=1 >"$PROCSUP_READY_FILE";';
const READY = { wait_ready: true };

Deno.test("a process starts when its dependencies are ready, and is stopped before them", async () => {
  await using test = await TestManager.open();
  await test.script("db", member("db", "sleep 0.2; echo ready >>order;"), READY);
  await test.script("api", member("api"), { ...READY, depends_on: ["db"] }, { wait: true });
  await test.script("web", member("web"), { ...READY, depends_on: ["api"] }, { wait: true });
  assertEquals(test.lines("order"), ["db", "ready", "api", "web"]);
  await test.supervisor.stop("all");
  assertEquals(test.lines("order").slice(4), ["web ends", "api ends", "db ends"]);
  await Deno.remove(`${test.home}/order`);
  await test.supervisor.start("all", { wait: true });
  assertEquals(test.lines("order"), ["db", "ready", "api", "web"]);
});

Deno.test("starting a process also starts its dependencies", async () => {
  await using test = await TestManager.open();
  await test.script("db", member("db"));
  await test.script("api", member("api"), { depends_on: ["db"] }, { wait: true });
  await test.supervisor.stop("all");
  await test.supervisor.start("api", { wait: true });
  assertEquals([test.info("db").state, test.info("api").state], ["running", "running"]);
});

Deno.test("lower priorities start first and stop last", async () => {
  await using test = await TestManager.open();
  for (const [name, priority] of [["last", 9], ["first", -9], ["mid", 0]] as const) {
    await test.script(name, member(name), { ...READY, priority });
  }
  await waitFor(() => test.lines("order").length === 3, { what: "the starts" });
  await test.supervisor.stop("all");
  assertEquals(test.lines("order").slice(3), ["last ends", "mid ends", "first ends"]);
  await test.supervisor.start("all", { wait: true });
  assertEquals(test.lines("order").slice(6), ["first", "mid", "last"]);
});

Deno.test("independent processes are stopped in parallel", async () => {
  await using test = await TestManager.open();
  const script = "trap '' TERM; echo up; while [ ! -e go ]; do sleep 0.1; done";
  const names = ["a", "b", "c", "d"];
  for (const name of names) {
    await test.script(name, script, { stop_timeout: "1m", ready_log: "up" }, { wait: true });
  }
  const stopping = test.supervisor.stop("all");
  const states = () => names.map((name) => test.info(name).state);
  await waitFor(() => states().every((state) => state === "stopping"), { what: "all at once" });
  Deno.writeTextFileSync(`${test.home}/go`, "");
  await stopping;
  assertEquals(states(), Array(4).fill("stopped"));
});

Deno.test("a failed job makes the processes that depend on its success errored, with the reason", async () => {
  await using test = await TestManager.open();
  await test.script("migrate", "sleep 0.1; exit 3", { restart_policy: "never" });
  const config = { depends_on: { migrate: "completed_ok" } };
  const start = () => test.script("api", "touch began; sleep 1000", config, { wait: true });
  const error = await assertRejects(start, ProcsupError);
  assertEquals(
    error.message,
    'Cannot start "api": depends on "migrate", which is crashed: exited with code 3',
  );
  assertEquals([test.info("api").state, test.info("api").pid], ["errored", 0]);
});

Deno.test("a healthy dependency is awaited, and its later failure stops no dependents", async () => {
  await using test = await TestManager.open();
  const health_check = {
    type: "command",
    command: "test -e well",
    interval: "20ms",
    on_failure: "none",
  };
  await test.script("db", "exec sleep 1000", { health_check });
  const starting = test.script("api", "exec sleep 1000", { depends_on: { db: "healthy" } }, {
    wait: true,
  });
  await waitFor(() => test.info("db").health === "unhealthy", { what: "db to be unhealthy" });
  assertEquals(test.info("api").state, "waiting");
  await Deno.writeTextFile(`${test.home}/well`, "");
  await starting;
  assertEquals([test.info("db").health, test.info("api").state], ["healthy", "running"]);
  const { pid } = test.info("api");
  await Deno.remove(`${test.home}/well`);
  await waitFor(() => test.info("db").health === "unhealthy", { what: "db to be unhealthy again" });
  assertEquals([test.info("api").state, test.info("api").pid], ["running", pid]);
});

Deno.test("unknown dependencies and cycles are rejected by name, and nothing is registered", async () => {
  await using test = await TestManager.open();
  await test.script("database", "exec sleep 1000");
  const refused = async (depends_on: unknown) => {
    const start = () => test.script("api", "exec sleep 1000", { depends_on });
    const error = await assertRejects(start, ProcsupError);
    assertEquals(error.code, "invalid_config");
    return error.message;
  };
  const unknown = 'Invalid "depends_on": there is no process "databse": did you mean "database"?';
  assertEquals(await refused(["databse"]), unknown);
  assertEquals(await refused(["api"]), "Dependencies form a cycle: api → api");
  assert((await refused({ database: "up" })).startsWith('Invalid "depends_on.database" "up"'));
  assertEquals(test.manager.list().length, 1);
});

Deno.test("a configuration change that would create a cycle is rejected", async () => {
  await using test = await TestManager.open();
  await test.script("db", "exec sleep 1000");
  await test.script("api", "exec sleep 1000", { depends_on: ["db"] }, { wait: true });
  const patch = (depends_on: readonly string[]) =>
    test.supervisor.reconfigure("db", { keys: { depends_on } });
  const error = await assertRejects(() => patch(["api"]), ProcsupError);
  assertEquals([error.code, error.message], [
    "invalid_config",
    "Dependencies form a cycle: db → api → db",
  ]);
  await assertRejects(() => patch(["nobody"]), ProcsupError, 'there is no process "nobody"');
  await test.supervisor.stop("all");
});

Deno.test("an app continues to wait for its dependency after the daemon is killed", async () => {
  const gate = `${daemon.home}/gate`;
  const db = `while [ ! -e ${gate} ]; do sleep 0.1; done; ${SAYS_READY} exec sleep 1000`;
  await daemon.startScript("db", db, { wait_ready: true });
  await daemon.startScript("api", "exec sleep 1000", { depends_on: ["db"] });
  const states = async () => (await daemon.client.call("list")).map(({ state }) => state);
  assertEquals(await states(), ["starting", "waiting"]);
  const { pid } = await daemon.status("db");
  await daemon.kill();
  await daemon.run();
  assertEquals(await states(), ["starting", "waiting"]);
  await Deno.writeTextFile(gate, "");
  await waitFor(async () => (await states()).join() === "running,running", { what: "both to run" });
  assertEquals((await daemon.status("db")).pid, pid);
});

Deno.test("a dependency that exited while no daemon ran settles its dependents", async () => {
  const gate = `${daemon.home}/gate`;
  const job = `while [ ! -e ${gate} ]; do sleep 0.1; done; exit 5`;
  const { pid } = await daemon.startScript("job", job, { restart_policy: "never" });
  await daemon.startScript("api", "exec sleep 1000", { depends_on: { job: "completed_ok" } });
  await daemon.kill();
  await Deno.writeTextFile(gate, "");
  await waitFor(() => !isAlive(pid), { what: "the job to end" });
  await daemon.run();
  await waitFor(async () => (await daemon.status("api")).state === "errored", { what: "errored" });
  const { last_reason } = await daemon.status("api");
  assertEquals(last_reason, 'depends on "job", which is crashed: exited with code 5');
});
