/** Waiting for dependencies, and failed ones. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ProcsupError } from "../../src/model/errors.ts";
import type { DependencyCondition } from "../../src/model/process_config.ts";
import { sleep } from "../../src/platform/clock.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { waitFor } from "../support/wait_for.ts";
import { FakeRegistry } from "./fake_registry.ts";

function state({ snapshot }: ManagedProcess): string {
  return snapshot.state;
}

/** `db` and an `api` that depends on it. */
function pair(condition: DependencyCondition, config: Record<string, unknown> = {}) {
  const fake = new FakeRegistry();
  const db = fake.add("db", { restart_policy: "never", ...config });
  const api = fake.add("api", { depends_on: { db: condition } });
  return { fake, db, api };
}

Deno.test("started: met when the dependency has a pid, ready or not", async () => {
  const { fake, db, api } = pair("started", { wait_ready: true });
  await using _ = fake;
  await api.start({ wait: false });
  await waitFor(() => state(api) === "running", { what: "api to run" });
  assertEquals(state(db), "starting", "started along, and not ready");
});

Deno.test("ready: met only when the dependency is ready", async () => {
  const { fake, db, api } = pair("ready", { wait_ready: true });
  await using _ = fake;
  await api.start();
  await waitFor(() => fake.child("db") !== undefined && fake.world.awaitsReady);
  assertEquals([state(db), state(api)], ["starting", "waiting"]);
  assertEquals(api.snapshot.lastReason, "waiting for db");
  fake.world.sayReady();
  await waitFor(() => state(api) === "running", { what: "api to run" });
});

Deno.test("ready: not met by a dependency that exited before it was ready, failed, or was stopped", async () => {
  for (const [code, config] of [[0, { wait_ready: true }], [1, {}]] as const) {
    const { fake, db, api } = pair("ready", config);
    await using _ = fake;
    await db.start({ wait: false });
    fake.child("db")!.exit(code);
    await waitFor(() => ["stopped", "crashed", "errored"].includes(state(db)));
    await assertRejects(() => api.start({ wait: true }), ProcsupError, 'depends on "db"');
  }
  const { fake, db, api } = pair("ready");
  await using _ = fake;
  await db.start();
  const stopping = db.stop();
  fake.child("db")!.exit(0);
  await stopping;
  await api.start({ wait: false });
  await waitFor(() => state(api) === "running", { what: "api to run" });
  assertEquals(state(db), "running", "it was started along");
});

Deno.test("a list of names means ready", async () => {
  await using fake = new FakeRegistry();
  fake.add("db", { wait_ready: true });
  const api = fake.add("api", { depends_on: ["db"] });
  await api.start();
  await waitFor(() => fake.child("db") !== undefined && fake.world.awaitsReady);
  assertEquals(state(api), "waiting");
});

Deno.test("healthy: met when the dependency's checks pass", async () => {
  const check = { type: "command", interval: "1s", retries: 1, on_failure: "none" };
  const gate = Deno.makeTempFileSync();
  const { fake, db, api } = pair("healthy", {
    health_check: { ...check, command: `[ ! -e '${gate}' ]` },
  });
  await using _ = fake;
  await api.start();
  await waitFor(() => db.info().health === "unhealthy", { what: "the first check" });
  assertEquals(state(api), "waiting");
  Deno.removeSync(gate);
  await waitFor(() => {
    fake.world.clock.advance(1000);
    return state(api) === "running";
  }, { what: "api to run" });
});

Deno.test("healthy: refused for a dependency without checks", async () => {
  await using fake = new FakeRegistry();
  fake.add("db");
  assertThrows(
    () => fake.add("api", { depends_on: { db: "healthy" } }),
    ProcsupError,
    '"db" has no health_check, so it is never healthy',
  );
});

Deno.test("completed: met when the dependency has exited with any status", async () => {
  for (const code of [0, 1]) {
    const { fake, db, api } = pair("completed");
    await using _ = fake;
    await api.start();
    await waitFor(() => state(db) === "running", { what: "db to run" });
    assertEquals(state(api), "waiting");
    fake.child("db")!.exit(code);
    await waitFor(() => state(api) === "running", { what: "api to run" });
  }
});

Deno.test("completed_ok: met when the dependency exited successfully, failed otherwise", async () => {
  for (const [code, expected] of [[0, "running"], [1, "errored"]] as const) {
    const { fake, db, api } = pair("completed_ok");
    await using _ = fake;
    api.start().catch(() => {});
    await waitFor(() => state(db) === "running", { what: "db to run" });
    fake.child("db")!.exit(code);
    await waitFor(() => state(api) === expected, { what: `api to be ${expected}` });
  }
});

for (const condition of ["ready", "completed_ok"] as const) {
  Deno.test(`${condition}: met by a job that finished earlier`, async () => {
    const { fake, db, api } = pair(condition);
    await using _ = fake;
    await db.start();
    fake.child("db")!.exit(0);
    await waitFor(() => state(db) === "stopped");
    await api.start({ wait: false });
    await waitFor(() => state(api) === "running", { what: "api to run" });
    assertEquals(state(db), "stopped", "it is not run again");
  });
}

for (const condition of ["started", "completed", "completed_ok"] as const) {
  Deno.test(`${condition}: not met by a run that ended before the dependency was stopped`, async () => {
    const { fake, db, api } = pair(condition);
    await using _ = fake;
    await db.start();
    fake.child("db")!.exit(0);
    await waitFor(() => state(db) === "stopped");
    await db.stop();
    await api.start({ wait: false });
    await waitFor(() => state(db) === "running", { what: "db to be started again" });
    if (condition !== "started") fake.child("db")!.exit(0);
    await waitFor(() => state(api) === "running", { what: "api to run" });
  });
}

Deno.test("a failing dependency makes its dependents errored, with the reason along the chain", async () => {
  await using fake = new FakeRegistry();
  fake.world.beforeLaunch = ({ stdout }) => {
    if (stdout.includes("/db/")) throw new ProcsupError("start_failed", "no such library");
  };
  fake.add("db");
  const api = fake.add("api", { depends_on: ["db"] });
  const web = fake.add("web", { depends_on: { api: "started" } });
  const error = await assertRejects(() => web.start({ wait: true }), ProcsupError);
  assertEquals([state(api), state(web)], ["errored", "errored"]);
  assertEquals(
    error.message,
    'Cannot start "web": depends on "api", which is errored: ' +
      'depends on "db", which is errored: no such library',
  );
});

Deno.test("a crashing dependency is awaited as long as it is restarted, and no longer", async () => {
  const { fake, db, api } = pair("ready", {
    restart_policy: "on-failure",
    max_restarts: 1,
    wait_ready: true,
  });
  await using _ = fake;
  void api.start().catch(() => {});
  await waitFor(() => state(db) === "starting" && db.snapshot.pid > 0);
  fake.child("db")!.exit(1);
  await waitFor(() => state(db) === "waiting");
  assertEquals(state(api), "waiting");
  fake.world.clock.advance(100);
  await waitFor(() => state(db) === "starting" && db.snapshot.pid > 0);
  fake.child("db")!.exit(1);
  await waitFor(() => state(api) === "errored", { what: "api to be errored" });
  assertEquals(
    api.snapshot.lastReason,
    'depends on "db", which is errored: exited with code 1, 1 restart used up',
  );
});

Deno.test("a dependency that a user stops makes its dependents errored", async () => {
  const { fake, db, api } = pair("ready", { wait_ready: true });
  await using _ = fake;
  void api.start().catch(() => {});
  await waitFor(() => state(db) === "starting");
  await db.stop();
  await waitFor(() => state(api) === "errored", { what: "api to be errored" });
  assertEquals(
    api.snapshot.lastReason,
    'depends on "db", which is stopped: stopped by user',
  );
});

Deno.test("every instance of a dependency is awaited", async () => {
  await using fake = new FakeRegistry();
  fake.add("db", { instances: 2, wait_ready: true });
  const api = fake.add("api", { depends_on: ["db"] });
  await api.start();
  await waitFor(() => fake.world.children.length === 2 && fake.world.awaitsReady);
  fake.world.sayReady();
  await waitFor(() =>
    fake.registry.directory.list().some((process) => state(process) === "running")
  );
  assertEquals(state(api), "waiting");
});

Deno.test("a removed dependency makes its dependents errored", async () => {
  const { fake, db, api } = pair("ready");
  await using _ = fake;
  fake.registry.remove(db);
  await assertRejects(
    () => api.start({ wait: true }),
    ProcsupError,
    'Cannot start "api": depends on "db", which does not exist',
  );
});

Deno.test("a removed dependency cancels the wait for the others without an unhandled rejection", async () => {
  await using fake = new FakeRegistry();
  fake.add("db", { wait_ready: true });
  const cache = fake.add("cache");
  const api = fake.add("api", { depends_on: ["db", "cache"] });
  fake.registry.remove(cache);
  await assertRejects(() => api.start({ wait: true }), ProcsupError, "cache");
  // An unhandled rejection fails the test.
  await sleep(0);
  assertEquals(fake.world.children.length, 0);
});

Deno.test("stop() of a dependent leaves the dependency alone, and a later start waits again", async () => {
  const { fake, db, api } = pair("ready", { wait_ready: true });
  await using _ = fake;
  await api.start();
  await waitFor(() => state(db) === "starting" && fake.world.awaitsReady);
  await api.stop();
  assertEquals([state(api), state(db)], ["stopped", "starting"]);
  fake.world.sayReady();
  assertEquals([state(api), state(db)], ["stopped", "running"]);
  await api.start();
  await waitFor(() => state(api) === "running", { what: "api to run" });
});

Deno.test("a running process no longer has a reason for waiting", async () => {
  const { fake, api } = pair("ready");
  await using _ = fake;
  await api.start({ wait: false });
  await waitFor(() => state(api) === "running", { what: "api to run" });
  assert(!api.snapshot.lastReason.startsWith("waiting"), api.snapshot.lastReason);
});

Deno.test("add() rejects an unknown dependency with a suggestion, and a process that depends on itself", async () => {
  await using fake = new FakeRegistry();
  fake.add("database");
  const error = assertThrows(() => fake.add("api", { depends_on: ["databse"] }), ProcsupError);
  assertEquals([error.code, error.message], [
    "invalid_config",
    'Invalid "depends_on": there is no process "databse": did you mean "database"?',
  ]);
  assertThrows(
    () => fake.add("api", { depends_on: { api: "started" } }),
    ProcsupError,
    "Dependencies form a cycle: api → api",
  );
  assertEquals(fake.registry.directory.list().length, 1);
});

/** The behavior of a process in the property below after its launch. */
const BEHAVIOURS = ["runs", "cannot start", "succeeds", "fails", "crashes"] as const;
const CONDITIONS = ["started", "ready", "completed", "completed_ok"] as const;

const graphs = fc.array(
  fc.record({
    behaviour: fc.constantFrom(...BEHAVIOURS),
    dependsOn: fc.dictionary(fc.nat(6).map(String), fc.constantFrom(...CONDITIONS), { maxKeys: 3 }),
  }),
  { minLength: 1, maxLength: 7 },
);

Deno.test("every process of a random graph with failures settles, and errored ones have a reason", async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async (graph) => {
      await using fake = new FakeRegistry();
      fake.world.beforeLaunch = ({ stdout }) => {
        if (behaviourOf(stdout) === "cannot start") throw new Error("not found");
      };
      const behaviourOf = (path: string) => graph[Number(/\/p(\d+)\//.exec(path)![1])]!.behaviour;
      const processes = graph.map(({ behaviour, dependsOn }, index) =>
        fake.add(`p${index}`, {
          restart_policy: behaviour === "crashes" ? "on-failure" : "never",
          max_restarts: 1,
          labels: { behaviour },
          // Only on earlier ones, so that there are no cycles.
          depends_on: Object.fromEntries(
            Object.entries(dependsOn).filter(([on]) => Number(on) < index)
              .map(([on, condition]) => [`p${on}`, condition]),
          ),
        })
      );
      for (const process of processes.toReversed()) process.start().catch(() => {});
      await waitFor(() => {
        for (const child of fake.world.children) {
          const behaviour = behaviourOf(child.spec!.stdout);
          if (child.alive && behaviour !== "runs") child.exit(behaviour === "succeeds" ? 0 : 1);
        }
        fake.world.clock.advance(1000);
        return processes.every((process) => isSettled(process, processes));
      }, { what: "the graph to settle", timeoutMs: 20_000 });
      for (const [index, { snapshot }] of processes.entries()) {
        if (snapshot.state !== "errored") continue;
        const own = { "cannot start": /^not found/, "crashes": /restarts? used up$/ };
        const expected = own[graph[index]!.behaviour as keyof typeof own] ?? /^depends on "p\d+"/;
        assert(expected.test(snapshot.lastReason) || /^depends/.test(snapshot.lastReason));
      }
    }),
    { numRuns: 60 },
  );
});

/** At rest, running for good, or waiting for something that can still happen. */
function isSettled(process: ManagedProcess, all: readonly ManagedProcess[]): boolean {
  const { snapshot, config } = process;
  if (snapshot.state === "running") return config.labels.behaviour === "runs";
  if (snapshot.state !== "waiting") return !["starting", "stopping"].includes(snapshot.state);
  return Object.entries(config.dependsOn).some(([name, condition]) => {
    const on = all.find((process) => process.name === name)!;
    return isSettled(on, all) &&
      (on.snapshot.awaiting === "dependencies" ||
        (on.snapshot.state === "running" && condition.startsWith("completed")));
  });
}

Deno.test("a stopping dependency is started again, like a stopped one", async () => {
  const { fake, db, api } = pair("ready", { stop_timeout: "1m" });
  await using _ = fake;
  await db.start();
  const stopping = db.stop();
  assertEquals(state(db), "stopping");
  await api.start({ wait: false });
  fake.child("db")!.exit(0);
  await stopping;
  await waitFor(() => state(api) === "running", { what: "api to run" });
});

Deno.test("a removed instance is not awaited, and the last one counts as missing", async () => {
  for (const keepsOne of [true, false]) {
    const fake = new FakeRegistry();
    await using _ = fake;
    fake.add("db", { instances: 2, wait_ready: true });
    const [first, second] = fake.registry.directory.list();
    const api = fake.add("api", { depends_on: { db: "ready" } });
    await api.start({ wait: false });
    await waitFor(() => fake.child("db:0") !== undefined && fake.child("db:1") !== undefined);
    for (const [instance, goes] of [[first!, true], [second!, !keepsOne]] as const) {
      if (!goes) continue;
      const retired = fake.registry.retire(instance, {});
      fake.child(instance.name)!.exit(0);
      await retired;
    }
    if (keepsOne) {
      assertEquals(state(api), "waiting");
      fake.world.sayReady();
    }
    const expected = keepsOne ? "running" : "errored";
    await waitFor(() => state(api) === expected, { what: `api to be ${expected}` });
    if (!keepsOne) {
      assertEquals(api.snapshot.lastReason, 'depends on "db", which does not exist');
    }
  }
});

Deno.test("a dependency that is deleted and added again meanwhile is awaited as well", async () => {
  await using fake = new FakeRegistry();
  const db = fake.add("db");
  fake.add("cache", { wait_ready: true });
  const api = fake.add("api", { depends_on: ["db", "cache"] });
  await api.start({ wait: false });
  await waitFor(() => state(db) === "running" && fake.child("cache") !== undefined);
  await fake.registry.retire(db, {});
  const next = fake.add("db");
  fake.world.sayReady();
  await waitFor(() => state(api) === "running", { what: "api to run" });
  assertEquals(state(next), "running", "it was started along");
});
