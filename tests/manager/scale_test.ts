/** Scaling the instances of a process. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ProcsupError } from "../../src/model/errors.ts";
import { listArchives } from "../../src/logs/write/archives.ts";
import { change, scale, scaledCount } from "../../src/manager/app_requests.ts";
import { FakeRegistry } from "./fake_registry.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

/** One running process, `api`. */
async function single(config: Record<string, unknown> = {}): Promise<FakeRegistry> {
  const fake = new FakeRegistry();
  fake.add("api", config);
  await Promise.all(fake.registry.directory.list().map((process) => process.start()));
  return fake;
}

function names(fake: FakeRegistry): string[] {
  return fake.registry.directory.list().map(({ name }) => name);
}

Deno.test("scaledCount() accepts a number, or a change to the current one", () => {
  for (
    const [change, now, expected] of [
      ["4", 1, 4],
      [4, 9, 4],
      ["+2", 1, 3],
      ["-1", 3, 2],
      ["+0", 3, 3],
      [" 2 ", 1, 2],
      ["1024", 1, 1024],
    ] as const
  ) assertEquals(scaledCount(change, now), expected);
});

Deno.test("scaledCount() rejects an invalid number and names it", () => {
  for (const change of ["0", "-1", "-5", "1025", "x", "", "1.5", "++1", "1e3", "٣", NaN, -1, 2.5]) {
    const error = assertThrows(() => scaledCount(change, 1), ProcsupError);
    assertEquals(error.code, "bad_request", String(change));
    const quoted = JSON.stringify(change);
    assertEquals(
      error.message.startsWith(`Cannot scale to ${quoted}: expected N, +N or -N for 1 to 1024`),
      true,
    );
  }
});

Deno.test("scale() gives a single instance an index, and starts the missing ones", async () => {
  await using fake = await single();
  const { pid } = fake.registry.directory.list()[0]!.snapshot;
  const outcomes = await scale(fake.registry, "api", 3);
  assertEquals(names(fake), ["api:0", "api:1", "api:2"]);
  assertEquals(outcomes.map(({ process }) => process.name), ["api:1", "api:2"]);
  assertEquals(
    fake.registry.directory.list()[0]!.snapshot.pid,
    pid,
    "the running app keeps running",
  );
  assertEquals(fake.registry.directory.list().map(({ config }) => config.instances), [3, 3, 3]);
  assertEquals(fake.child("api:2")!.spec!.env.PROCSUP_INSTANCE, "2");
});

Deno.test("scale() stops the highest indexes first, and fills gaps before it adds new ones", async () => {
  await using fake = await single({ instances: 4 });
  await scale(fake.registry, "api", "-1");
  assertEquals(names(fake), ["api:0", "api:1", "api:2"]);
  const middle = fake.registry.directory.list()[1]!;
  await middle.stop();
  fake.registry.remove(middle);
  await scale(fake.registry, "api", "+2");
  assertEquals(names(fake).toSorted(), ["api:0", "api:1", "api:2", "api:3"]);
});

Deno.test("scale() leaves the other keys of each instance alone", async () => {
  await using fake = await single({ instances: 2 });
  const app = fake.registry.directory.app("api")!;
  fake.world.beforeLaunch = () => {
    throw new Error("no");
  };
  await change(app, { config: { ...app.wanted, args: ["2"] } });
  fake.world.beforeLaunch = () => {};
  await scale(fake.registry, "api", 3);
  const configs = fake.registry.directory.list().map((
    { config },
  ) => [config.args, config.instances]);
  assertEquals(configs, [[["2"], 3], [[], 3], [["2"], 3]]);
});

Deno.test("scale() changes nothing when the number is already reached", async () => {
  await using fake = await single({ instances: 2 });
  assertEquals(await scale(fake.registry, "api", 2), []);
  assertEquals(fake.world.children.length, 2);
});

Deno.test("scale() keeps the index when only one instance is left", async () => {
  await using fake = await single({ instances: 3 });
  await scale(fake.registry, "api", 1);
  assertEquals([names(fake), fake.registry.directory.list()[0]!.config.instances], [["api:0"], 1]);
});

Deno.test("scale() rejects an unknown process with a suggestion", async () => {
  await using fake = await single();
  // It takes the name of an app, not of an instance.
  for (const wrong of ["apo", "api:10"]) {
    const error = await assertRejects(() => scale(fake.registry, wrong, 3), ProcsupError);
    assertEquals([error.code, error.near], ["process_not_found", "api"], wrong);
  }
});

Deno.test("scale() rejects an invalid number before anything is renamed", async () => {
  await using fake = await single();
  for (const change of ["0", "-1", "x", "2000"]) {
    await assertRejects(() => scale(fake.registry, "api", change), ProcsupError);
  }
  assertEquals(names(fake), ["api"]);
});

Deno.test("scale() reaches the requested number from any other, without duplicate indexes", async () => {
  const counts = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(counts, async (sequence) => {
      await using fake = await single();
      for (const count of sequence) {
        await scale(fake.registry, "api", count);
        const indexes = fake.registry.directory.list().map(({ instanceIndex }) => instanceIndex);
        assertEquals(indexes.toSorted(), Array.from({ length: count }, (_, index) => index));
        assertEquals(fake.world.children.filter(({ alive }) => alive).length, count);
      }
    }),
    { numRuns: 20 },
  );
});

Deno.test("scale() keeps the logs of deleted instances under the first one's name", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  for (const word of ["one", "two", "three"]) {
    await test.script("app", `echo ${word}; exec sleep 1000`);
    await waitFor(() => test.lines("apps/app/stdout.log").length === 1, { what: "the line" });
    await supervisor.scale("app", 2);
    assertEquals(test.lines("apps/app:0/stdout.log"), [word]);
    await supervisor.remove("app");
  }
  assertEquals(test.lines("apps/app:0.1/stdout.log"), ["one"]);
  assertEquals(test.lines("apps/app:0.2/stdout.log"), ["two"]);
});

Deno.test("scale() with wait fails when an instance does not stay up", async () => {
  await using test = await TestManager.open();
  await test.script("app", '[ "$PROCSUP_INSTANCE" = 0 ] || exit 3; exec sleep 1000', {
    min_uptime: "1m",
  });
  const [first, ...others] = await test.supervisor.scale("app", 2, { wait: true });
  assertEquals([first?.process.name, first?.error?.code], ["app:1", "start_failed"]);
  assertEquals(others, []);
});

Deno.test("scale() keeps the log of a renamed instance, and continues to rotate it", async () => {
  await using test = await TestManager.open();
  const script = "while :; do seq 2000; sleep 0.05; done";
  await test.script("app", script, { log: { max_size: "64KB", compress: false } });
  const archives = (name: string) => listArchives(`${test.home}/apps/${name}/stdout.log`).length;
  await waitFor(() => archives("app") >= 1);
  await test.manager.scale("app", 2);
  const before = archives("app:0");
  await waitFor(() => archives("app:0") >= before + 2, { what: "archives under the new name" });
  assertEquals(test.warnings, []);
});

Deno.test("scale() waits for a concurrent call before it counts the instances", async () => {
  await using test = await TestManager.open();
  const slow = "trap 'while [ ! -e gate ]; do sleep 0.02; done; exit 0' TERM; echo up; " +
    "while :; do sleep 0.02; done";
  await test.script("app", slow, { instances: 3, ready_log: "up" }, { wait: true });
  const fewer = test.supervisor.scale("app", 1);
  const more = test.supervisor.scale("app", 4);
  Deno.writeTextFileSync(`${test.home}/gate`, "");
  await Promise.all([fewer, more]);
  const instances = test.instances("app").map(({ name, config }) => `${name} ${config.instances}`);
  assertEquals(instances.toSorted(), ["app:0 4", "app:1 4", "app:2 4", "app:3 4"]);
});

Deno.test("scale() adds nothing to a process that is being deleted", async () => {
  for (const deleteFirst of [true, false]) {
    await using fake = await single();
    const [api] = fake.registry.directory.list();
    const remove = () => fake.registry.retire(api!, {});
    const early = deleteFirst ? remove() : undefined;
    const scaled = assertRejects(
      () => scale(fake.registry, "api", 5),
      ProcsupError,
      'Cannot scale "api": it is being deleted',
    );
    await (early ?? remove());
    await scaled;
    assertEquals(names(fake), []);
  }
});

Deno.test("scale() decides the number of instances, also during a change of configuration", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const ready = { wait_ready: true, health_check: { type: "command", command: "[ ! -e hold ]" } };
  await test.script("app", "exec sleep 1000", { instances: 3, ...ready }, { wait: true });
  Deno.writeTextFileSync(`${test.home}/hold`, "");
  const changing = supervisor.reconfigure("app", { keys: { env: { NEW: "1" } } });
  await test.until("app:0", "starting");
  await supervisor.scale("app", 2);
  Deno.removeSync(`${test.home}/hold`);
  await changing;
  const now = test.instances("app").map(({ config }) => [config.instances, config.env]);
  assertEquals(now, [[2, { NEW: "1" }], [2, { NEW: "1" }]]);
});

Deno.test("scale() is answered when a shutdown begins", async () => {
  await using fake = await single({ instances: 2 });
  fake.world.prompt = false;
  const scaled = assertRejects(
    () => scale(fake.registry, "api", 1),
    ProcsupError,
    "shutting down",
  );
  await waitFor(() => fake.registry.directory.list()[1]!.isLeaving);
  fake.registry.beginClosing();
  await scaled;
  for (const child of fake.world.children) child.exit(0);
  await waitFor(() => fake.registry.directory.list().length === 1);
});

/** A process that is being scaled to two instances, once its logs may be moved. */
async function waitingForLogs() {
  const fake = await single();
  const { registry } = fake;
  const [begun, rotated] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  fake.moveLogs = (act) => {
    begun.resolve();
    return rotated.promise.then(act);
  };
  const scaled = scale(registry, "api", 2);
  await begun.promise;
  return { fake, registry, api: registry.directory.list()[0]!, scaled, rotated };
}

Deno.test("scale() waits for the logs, and then starts instances with the configuration of that time", async () => {
  const { fake, registry, scaled, rotated } = await waitingForLogs();
  await using _ = fake;
  const app = registry.directory.app("api")!;
  await change(app, { config: { ...app.wanted, args: ["2"] }, waitReady: false });
  rotated.resolve();
  await scaled;
  assertEquals(registry.directory.list().map(({ config }) => config.args), [["2"], ["2"]]);
});

Deno.test("scale() leaves the logs of a process alone that is deleted before they can be moved", async () => {
  const { fake, registry, api, scaled, rotated } = await waitingForLogs();
  await using _ = fake;
  const refused = assertRejects(() => scaled, ProcsupError, "it is being deleted");
  await registry.retire(api, {});
  rotated.resolve();
  await refused;
  assertEquals([...Deno.readDirSync(fake.world.apps)].map(({ name }) => name), ["api"]);
});
