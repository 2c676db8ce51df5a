/** Reloading the instances of a process in batches, in a fake world. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";
import {
  appOfAll,
  batchCount,
  change,
  changedConfig,
  type ChangeOptions,
  reloadAll,
  scale,
} from "../../src/manager/app_requests.ts";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";
import { FakeRegistry } from "./fake_registry.ts";

/** Several running instances of `api` in a fake world. */
async function running(instances: number): Promise<FakeRegistry> {
  const fake = new FakeRegistry();
  fake.add("api", { instances, min_uptime: "0s" });
  await Promise.all(fake.registry.directory.list().map((process) => process.start()));
  return fake;
}

/** The new configuration; `badPath` is a log path with which an instance cannot be launched. */
function release(fake: FakeRegistry): ProcessConfig {
  return { ...fake.registry.directory.list()[0]!.config, args: ["2"] };
}

function failWith(fake: FakeRegistry, instance: string, argument: string): void {
  fake.world.beforeLaunch = ({ stdout, argv }) => {
    if (stdout.includes(`/${instance}/`) && argv.includes(argument)) throw new Error("no");
  };
}

/** Gives `api` a configuration. */
function changeTo({ registry }: FakeRegistry, config: ProcessConfig, how: ChangeOptions = {}) {
  return change(registry.directory.app("api")!, { ...how, config });
}

/** The arguments that each instance runs with. */
function versions(fake: FakeRegistry): (string | undefined)[] {
  return fake.registry.directory.list().map(({ name }) => {
    const child = fake.child(name)!;
    return child.alive ? child.spec!.argv[1] ?? "old" : undefined;
  });
}

/** Advances the fake clock until the promise settles. */
async function settle<T>(fake: FakeRegistry, act: Promise<T>): Promise<T> {
  let over = false;
  const acting = act.finally(() => over = true);
  acting.catch(() => {});
  await waitFor(() => {
    fake.world.clock.advance(1);
    return over;
  });
  return await acting;
}

Deno.test("batchCount() accepts a number, or a percentage rounded up, from one to all", () => {
  for (
    const [batchSize, instances, expected] of [
      [1, 4, 1],
      [4, 4, 4],
      ["2", 4, 2],
      ["25%", 4, 1],
      ["50%", 4, 2],
      ["50%", 5, 3],
      ["100%", 5, 5],
      ["1%", 3, 1],
      [1, 0, 1],
    ] as const
  ) assertEquals(batchCount(batchSize, instances), expected, `${batchSize} of ${instances}`);
});

Deno.test("batchCount() rejects an invalid number of instances and names it", () => {
  for (
    const batchSize of [
      0,
      -1,
      5,
      99,
      1.5,
      NaN,
      Infinity,
      "",
      "x",
      "-50%",
      "0%",
      "101%",
      "5",
      "1e0%",
    ]
  ) {
    const error = assertThrows(() => batchCount(batchSize, 4), ProcsupError);
    assertEquals(error.code, "bad_request", String(batchSize));
    assert(error.message.startsWith(`Invalid "batch_size" ${JSON.stringify(batchSize)}`));
  }
});

Deno.test("a change continues with the next batch when the previous one is up", async () => {
  for (
    const [batchSize, expected] of [
      [1, [0, 1, 2, 3]],
      [3, [0, 0, 0, 3]],
      ["50%", [0, 0, 2, 2]],
    ] as const
  ) {
    await using fake = await running(4);
    const newAtEnd: number[] = [];
    fake.world.beforeEnd = () => {
      newAtEnd.push(versions(fake).filter((version) => version === "2").length);
    };
    const rolling = changeTo(fake, release(fake), { batchSize });
    const { outcomes, rolledBack } = await settle(fake, rolling);
    assertEquals([newAtEnd, rolledBack], [[...expected], false]);
    assertEquals(versions(fake), ["2", "2", "2", "2"]);
    assertEquals(outcomes.map(({ process }) => process.name), ["api:0", "api:1", "api:2", "api:3"]);
  }
});

Deno.test("a change stops at the first failed batch, and leaves the rest unchanged", async () => {
  await using fake = await running(4);
  failWith(fake, "api:1", "2");
  const { outcomes, rolledBack } = await settle(
    fake,
    changeTo(fake, release(fake)),
  );
  assertEquals(outcomes.map(({ error }) => error?.code), [undefined, "start_failed"]);
  assertEquals([rolledBack, versions(fake)], [false, ["2", undefined, "old", "old"]]);
});

Deno.test("a change restores the old configuration on every changed instance", async () => {
  for (const batchSize of [1, 2, 4]) {
    await using fake = await running(4);
    failWith(fake, "api:1", "2");
    const { rolledBack } = await settle(
      fake,
      changeTo(fake, release(fake), { batchSize, rollbackOnFailure: true }),
    );
    assertEquals([rolledBack, versions(fake)], [true, ["old", "old", "old", "old"]]);
    for (const { config, snapshot } of fake.registry.directory.list()) {
      assertEquals([config.args, snapshot.state], [[], "running"]);
    }
  }
});

Deno.test("a change rolls back a release that is restarted while its output is read", async () => {
  await using fake = await running(1);
  const [app] = fake.registry.directory.list();
  const config = { ...release(fake), restartDelayMs: 1, minUptimeMs: 1000 };
  const rolling = changeTo(fake, config, { rollbackOnFailure: true });
  await waitFor(() => fake.world.children.length === 2 && app!.snapshot.pid > 0);
  Deno.writeTextFileSync(app!.logs.stderr, "no such version\n".repeat(5000));
  fake.child("api")!.exit(1);
  await app!.until(({ state }) => state === "waiting");
  // Its failure is known by then, but its output is not read yet.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  fake.world.clock.advance(10);
  const { rolledBack } = await settle(fake, rolling);
  assertEquals([rolledBack, versions(fake), app!.config.args], [true, ["old"], []]);
});

Deno.test("a change of an app that is deleted meanwhile says so", async () => {
  await using fake = await running(2);
  fake.world.prompt = false;
  const changing = changeTo(fake, release(fake), { more: { count: 3, options: {} } });
  const { registry } = fake;
  const deleted = registry.directory.list().map((process) => registry.retire(process, {}));
  fake.world.prompt = true;
  for (const child of fake.world.children) child.exit(0);
  const { outcomes } = await settle(fake, changing);
  await settle(fake, Promise.all(deleted));
  assertEquals(outcomes.map(({ process, error }) => [process.name, error?.message]), [
    ["api:0", 'Cannot reload "api:0": it was deleted meanwhile'],
    ["api:1", 'Cannot reload "api:1": it was deleted meanwhile'],
  ]);
});

Deno.test("a change fails when an instance that is added meanwhile does not come up", async () => {
  await using fake = await running(2);
  failWith(fake, "api:2", "2");
  const changing = changeTo(fake, release(fake), { rollbackOnFailure: true });
  const scaled = scale(fake.registry, "api", 3);
  const { outcomes, rolledBack } = await settle(fake, changing);
  assertEquals([rolledBack, outcomes.findLast(({ error }) => error)?.process.name], [
    true,
    "api:2",
  ]);
  await settle(fake, scaled);
  assertEquals(versions(fake), ["old", "old", "old"]);
});

Deno.test("a change changes nothing after the failed batch when it rolls back", async () => {
  await using fake = await running(4);
  failWith(fake, "api:0", "2");
  const pids = fake.registry.directory.list().map(({ snapshot }) => snapshot.pid);
  await settle(
    fake,
    changeTo(fake, release(fake), { rollbackOnFailure: true }),
  );
  const now = fake.registry.directory.list().map(({ snapshot }) => snapshot.pid);
  assertEquals(now.map((pid, index) => pid === pids[index]), [false, true, true, true]);
});

for (const waitReady of [true, false]) {
  Deno.test(`a change starts nothing that is stopped meanwhile, with waitReady ${waitReady}`, async () => {
    await using fake = await running(3);
    const [first, ...others] = fake.registry.directory.list();
    const old = first!.config;
    fake.world.prompt = false;
    const rolling = changeTo(fake, { ...release(fake), readyDelayMs: 4000 }, {
      waitReady,
      rollbackOnFailure: true,
    });
    await waitFor(() => first!.snapshot.state === "stopping");
    const stopping = Promise.all(fake.registry.directory.list().map((process) => process.stop()));
    for (const child of fake.world.children) child.exit(0);
    const { outcomes, rolledBack } = await settle(fake, rolling);
    await stopping;
    assertEquals(fake.registry.directory.list().map(({ snapshot }) => snapshot.state), [
      "stopped",
      "stopped",
      "stopped",
    ]);
    // A stop is no failure of the release: each has the new configuration from its next start.
    assertEquals([fake.world.children.length, outcomes.length, rolledBack], [3, 1, false]);
    assertEquals(others.map(({ config }) => config === old), [false, false]);
    assertEquals(first!.config.args, ["2"]);
  });
}

Deno.test("a change goes on when instances are deleted, before their turn and in it", async () => {
  await using fake = await running(4);
  const [first, second, , last] = fake.registry.directory.list();
  fake.world.beforeEnd = () => fake.world.prompt = false;
  fake.world.beforeLaunch = () => fake.world.prompt = true;
  const rolling = changeTo(fake, release(fake), { rollbackOnFailure: true });
  const end = (name: string) => fake.child(name)!.exit(0);
  await waitFor(() => first!.snapshot.state === "stopping");
  const deleting = [fake.registry.retire(last!, {})];
  end("api:0");
  await settle(fake, second!.until(({ state }) => state === "stopping"));
  deleting.push(fake.registry.retire(second!, {}));
  fake.world.beforeEnd = () => fake.world.prompt = true;
  for (const name of ["api:1", "api:3"]) end(name);
  const { outcomes, rolledBack } = await settle(fake, rolling);
  await Promise.all(deleting);
  assertEquals(outcomes.map(({ process, error }) => [process.name, error?.code]), [
    ["api:0", undefined],
    ["api:1", "start_failed"],
    ["api:2", undefined],
    ["api:3", "wrong_state"],
  ]);
  assertEquals([rolledBack, versions(fake)], [false, ["2", "2"]]);
});

Deno.test("a change only configures an instance that is stopped before its turn", async () => {
  await using fake = await running(3);
  const [, , last] = fake.registry.directory.list();
  const config = release(fake);
  const stops: Promise<void>[] = [];
  fake.world.beforeLaunch = () => stops.length === 0 && stops.push(last!.stop());
  const reloading = changeTo(fake, config);
  const { outcomes, kept } = await settle(fake, reloading);
  await Promise.all(stops);
  assertEquals(outcomes.map(({ process, error }) => [process.name, error]), [
    ["api:0", undefined],
    ["api:1", undefined],
  ]);
  assertEquals([kept, last!.config, versions(fake)], [[last], config, ["2", "2", undefined]]);
});

Deno.test("a change also changes an instance that is started while others reload", async () => {
  await using fake = await running(3);
  const [, second] = fake.registry.directory.list();
  const config = release(fake);
  const acts: Promise<void>[] = [];
  fake.world.beforeLaunch = ({ stdout }) => {
    // Its turn comes between the two.
    if (stdout.includes("/api:0/")) acts.push(second!.stop());
    if (stdout.includes("/api:2/")) acts.push(second!.start());
  };
  await settle(fake, changeTo(fake, config));
  await Promise.all(acts);
  assertEquals(versions(fake), ["2", "2", "2"]);

  await second!.stop();
  fake.world.beforeLaunch = ({ stdout }) => {
    if (stdout.includes("/api:0/")) acts.push(second!.start());
  };
  const next = { ...config, args: ["3"] };
  await settle(fake, changeTo(fake, next));
  await Promise.all(acts);
  assertEquals(versions(fake), ["3", "3", "3"]);
});

Deno.test("a change puts an instance back that is started while others reload and fail", async () => {
  for (const rollbackOnFailure of [true, false]) {
    await using fake = await running(3);
    const [, , third] = fake.registry.directory.list();
    await third!.stop();
    const config = release(fake);
    failWith(fake, "api:1", "2");
    fake.world.beforeEnd = () => {
      fake.world.beforeEnd = () => {};
      if (rollbackOnFailure) void third!.start();
    };
    const how = { rollbackOnFailure };
    await settle(fake, changeTo(fake, config, how));
    assertEquals(third!.config.args, []);
    assertEquals(
      versions(fake),
      rollbackOnFailure ? ["old", "old", "old"] : ["2", undefined, undefined],
    );
  }
});

Deno.test("a rollback leaves an instance alone that is deleted meanwhile", async () => {
  await using fake = await running(3);
  const [first] = fake.registry.directory.list();
  const deleting: Promise<void>[] = [];
  fake.world.beforeLaunch = ({ stdout, argv }) => {
    if (!stdout.includes("/api:1/")) return;
    if (argv.includes("2")) throw new Error("no");
    fake.world.beforeEnd = () => fake.world.prompt = false;
    deleting.push(fake.registry.retire(first!, {}));
  };
  const config = release(fake);
  const rolling = settle(fake, changeTo(fake, config, { rollbackOnFailure: true }));
  await waitFor(() => deleting.length === 1 && versions(fake)[1] === "old");
  await new Promise((resolve) => setTimeout(resolve, 50));
  fake.child("api:0")!.exit(0);
  await Promise.all([rolling, ...deleting]);
  assertEquals(fake.registry.directory.list().map(({ name }) => name), ["api:1", "api:2"]);
});

Deno.test("a rollback gives way to a later change", async () => {
  await using fake = await running(3);
  const later: Promise<unknown>[] = [];
  fake.world.beforeLaunch = ({ stdout, argv }) => {
    if (!stdout.includes("/api:1/")) return;
    if (argv.includes("2")) throw new Error("no");
    if (later.length > 0) return;
    later.push(changeTo(fake, { ...release(fake), args: ["3"] }));
  };
  await settle(fake, changeTo(fake, release(fake), { rollbackOnFailure: true }));
  await settle(fake, Promise.all(later));
  assertEquals(versions(fake), ["3", "3", "3"]);
  assertEquals(fake.registry.directory.list().map(({ config }) => config.args), [["3"], ["3"], [
    "3",
  ]]);
});

/** An app that is reloaded with overlap. */
async function overlapping(config: Record<string, unknown> = {}) {
  const fake = new FakeRegistry();
  fake.world.overlaps = true;
  const app = fake.add("api", { overlap: true, args: ["1"], min_uptime: "20ms", ...config });
  await app.start();
  return { fake, app };
}

Deno.test("a rollback undoes a release with which an old run that failed meanwhile was restarted", async () => {
  const { fake, app } = await overlapping({ restart_delay: "1ms" });
  await using _ = fake;
  const rolling = changeTo(fake, release(fake), { rollbackOnFailure: true });
  await waitFor(() => fake.world.children.length === 2);
  const [old, successor] = fake.world.children;
  let busy = 3;
  fake.world.beforeEnd = () => {
    old!.exit(1);
    // The end of the new run takes a while.
    if (busy-- > 0) throw new Error("busy");
  };
  successor!.exit(1);
  const { rolledBack } = await settle(fake, rolling);
  await settle(fake, app.until(({ state, pid }) => state === "running" && pid > 0));
  assertEquals([rolledBack, versions(fake), app.config.args], [true, ["1"], ["1"]]);
});

Deno.test("a rollback with overlap is over when the failed run has ended", async () => {
  const { fake, app } = await overlapping({ stop_timeout: "50ms" });
  await using _ = fake;
  const bad = { ...release(fake), waitReady: true, listenTimeoutMs: 20 };
  const rolling = changeTo(fake, bad, { rollbackOnFailure: true });
  await waitFor(() => fake.world.children.length === 2);
  const [old, failed] = fake.world.children;
  // It ignores its stop signal.
  fake.world.prompt = false;
  const { result, alive } = await settle(
    fake,
    rolling.then(({ rolledBack }) => ({ result: rolledBack, alive: failed!.alive })),
  );
  assertEquals([result, alive, old!.alive, app.snapshot.leftovers], [true, false, true, []]);
});

Deno.test("of two changes at once with overlap, the record has the one that the run has", async () => {
  const { fake, app } = await overlapping();
  await using _ = fake;
  let recorded: readonly string[] = [];
  fake.world.beforeLaunch = ({ argv }) => {
    if (!argv.includes("3")) return;
    recorded = app.specOf(app.record.snapshot.generation).args;
    throw new Error("no");
  };
  const earlier = changeTo(fake, { ...app.config, args: ["2"] });
  await waitFor(() => fake.world.children.length === 2);
  const later = changeTo(fake, { ...app.config, args: ["3"] });
  await settle(fake, Promise.all([earlier, later]));
  // The first was superseded, and the second has failed.
  const [old] = fake.world.children;
  assertEquals([recorded, old!.alive, app.config.args], [["1"], true, ["1"]]);
});

Deno.test("a change restarts and rolls back nothing once a shutdown has begun", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { instances: 2 });
  // Dependents stop first: web is still up while this one stops slowly.
  await test.script("slow", "trap 'sleep 0.5; exit 0' TERM; echo up; while :; do sleep 0.1; done", {
    depends_on: ["web"],
  });
  await waitFor(() => test.lines("apps/slow/stdout.log").length === 1, { what: "the trap" });
  const rolling = supervisor.reconfigure("web", {
    keys: { env: { FOO: "1" }, ready_delay: "200ms" },
    rollbackOnFailure: true,
  });
  await test.until("web:0", "starting");
  const closing = supervisor.shutDown();
  const { outcomes, rolledBack } = await rolling;
  assertEquals(outcomes.map(({ error }) => error?.code), [undefined, "closed"]);
  assertEquals(rolledBack, false, "the next supervisor goes on");
  await assertRejects(() => supervisor.process("slow").start(), ProcsupError, "shutting down");
  await closing;
  assertEquals(supervisor.list().map(({ state, pid }) => [state, pid]), [
    ["stopped", 0],
    ["stopped", 0],
    ["stopped", 0],
  ]);
});

Deno.test("a change of all skips jobs", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000");
  await test.script("job", "touch ran", { cron: "@yearly" });
  await test.supervisor.reload("all", { waitReady: true });
  assertEquals(test.info("job").state, "stopped");
  assertEquals(lstatIfAny(`${test.home}/ran`), undefined);
});

Deno.test("a change rejects an invalid batch size before it does anything", async () => {
  await using fake = await running(2);
  const config = release(fake);
  for (const batchSize of [0, 99]) {
    await assertRejects(
      () => changeTo(fake, config, { batchSize }),
      ProcsupError,
      "expected a number from 1 to 2",
    );
  }
  assertEquals([fake.world.children.length, versions(fake)], [2, ["old", "old"]]);
});

Deno.test("changedConfig() keeps the maps that a patch does not name", () => {
  const health_check = { type: "command", command: "true" };
  const before = parseConfig({ name: "api", entrypoint: "/bin/true", cwd: "/", health_check });
  const after = changedConfig(before, { keys: { env: { A: "1" } } });
  assertEquals(parseConfig(after).healthCheck, before.healthCheck);
});

Deno.test("changedConfig() rejects another name, and another number of instances", async () => {
  await using fake = await running(2);
  const { wanted } = fake.registry.directory.app("api")!;
  assertEquals(changedConfig(wanted, { keys: { args: ["x"], instances: 2 } }).args, ["x"]);
  // A command replaces the old entrypoint, even an invalid one, so the error is only about the
  // command.
  const { command, entrypoint } = changedConfig(wanted, { keys: { command: ["x"] } });
  assertEquals([command, entrypoint], [["x"], undefined]);
  assertThrows(
    () => changedConfig(wanted, { keys: { name: "x" } }),
    ProcsupError,
    'Invalid "name"',
  );
  assertThrows(
    () => changedConfig(wanted, { keys: { instances: 3 } }),
    ProcsupError,
    'Invalid "instances"',
  );
});

Deno.test("a configuration is given to one app as a whole", async () => {
  await using fake = await running(2);
  const other = fake.add("web");
  const api = fake.registry.directory.instancesOf("api");
  assertEquals(appOfAll(fake.registry, api).name, "api");
  assertThrows(() => appOfAll(fake.registry, [...api, other]), ProcsupError, 'to "api", "web"');
  const error = assertThrows(() => appOfAll(fake.registry, [api[1]!]), ProcsupError);
  assertEquals(
    [error.code, error.message, error.hint?.text],
    [
      "bad_request",
      '"api:1" is one of 2 instances: their configuration is that of the app',
      'Give it to "api"',
    ],
  );
});

Deno.test("of two changes at once the later one wins on every instance, and the earlier one fails", async () => {
  await using fake = await running(3);
  const { registry } = fake;
  const change = (args: string[]) => {
    const config = { ...registry.directory.list()[0]!.config, args };
    return changeTo(fake, config, { rollbackOnFailure: true });
  };
  const earlier = change(["2"]);
  const later = change(["3"]);
  const [first, second] = await settle(fake, Promise.all([earlier, later]));
  assertEquals(second.outcomes.map(({ error }) => error), [undefined, undefined, undefined]);
  assertEquals(
    first.outcomes.at(-1)!.error?.message,
    'Cannot reload "api:0": a later request changes its configuration',
  );
  assertEquals(first.rolledBack, false);
  assertEquals(versions(fake), ["3", "3", "3"]);
  assertEquals(registry.directory.list().map(({ config }) => config.args), [["3"], ["3"], ["3"]]);
});

Deno.test("a change is answered when more changes supersede it than are remembered", async () => {
  await using fake = await running(1);
  fake.world.prompt = false;
  const ended = Promise.withResolvers<void>();
  fake.world.beforeEnd = () => ended.resolve();
  const first = changeTo(fake, { ...release(fake), args: ["first"] });
  await ended.promise;
  const later = Array.from(
    { length: 12 },
    (_, index) => changeTo(fake, { ...release(fake), args: [`${index}`] }),
  );
  fake.world.prompt = true;
  for (const child of fake.world.children) child.exit(0);
  const [{ isFailed }] = await settle(fake, Promise.all([first, ...later]));
  assertEquals([isFailed, versions(fake)], [true, ["11"]]);
});

Deno.test("two requests at once for the same change both succeed", async () => {
  await using fake = await running(3);
  const both = [release(fake), release(fake)].map((config) => changeTo(fake, config));
  const done = await settle(fake, Promise.all(both));
  assertEquals(done.flatMap(({ outcomes }) => outcomes.flatMap(({ error }) => error ?? [])), []);
  assertEquals(versions(fake), ["2", "2", "2"]);
});

Deno.test("the earlier of two requests for the same change waits until the later one has made it", async () => {
  await using fake = await running(3);
  const earlier = changeTo(fake, release(fake));
  const later = changeTo(fake, release(fake));
  await settle(fake, earlier);
  assertEquals(versions(fake), ["2", "2", "2"]);
  await settle(fake, later);
});

Deno.test("the earlier of two requests for the same change fails with the later one", async () => {
  await using fake = await running(3);
  failWith(fake, "api:1", "2");
  const both = [release(fake), release(fake)].map((config) => changeTo(fake, config));
  const [earlier] = await settle(fake, Promise.all(both));
  const errors = earlier!.outcomes.map(({ error }) => error?.message);
  assertEquals(errors.length, 2, "the rest stay unchanged");
  assertStringIncludes(errors[1]!, "no");
});

Deno.test("a change of configuration gives way to a later one, also on instances that it need not reload", async () => {
  await using fake = await running(2);
  const { registry } = fake;
  const [, second] = registry.directory.list();
  await settle(fake, second!.stop());
  const config = registry.directory.list()[0]!.config;
  const earlier = changeTo(fake, { ...config, args: ["2"] });
  const later = changeTo(fake, { ...config, args: ["2"], priority: 7 });
  await settle(fake, Promise.all([earlier, later]));
  assertEquals(second!.config.priority, 7);
});

Deno.test("an app does not become a job if a later change says otherwise", async () => {
  await using fake = await running(1);
  const { registry } = fake;
  const [app] = registry.directory.list();
  const job = parseConfig({ name: "api", entrypoint: "/bin/sleep", cwd: "/", cron: "@yearly" });
  const changed = { ...app!.config, args: ["2"] };
  const earlier = changeTo(fake, job);
  const later = changeTo(fake, changed);
  const [first] = await settle(fake, Promise.all([earlier, later]));
  assertEquals(first.outcomes.map(({ error }) => error?.code), ["wrong_state"]);
  assertEquals([app!.config.cron, app!.config.args, versions(fake)], [undefined, ["2"], ["2"]]);
});

Deno.test("an app that could not be stopped to become a job is rolled back", async () => {
  await using fake = await running(2);
  await fake.registry.directory.list()[1]!.stop();
  fake.world.beforeEnd = () => fake.world.unending = [7];
  fake.world.beforeLaunch = () => fake.world.unending = [];
  const { cron } = parseConfig({ name: "api", entrypoint: "/bin/sleep", cwd: "/", cron: "@daily" });
  const job = { ...release(fake), cron };
  const { rolledBack } = await settle(fake, changeTo(fake, job, { rollbackOnFailure: true }));
  const [failed] = fake.registry.directory.app("api")!.releases;
  assertEquals([rolledBack, versions(fake)], [true, ["old", undefined]]);
  assertStringIncludes(failed!.failure!.reason, "pid 7");
});

Deno.test("after two failed changes at once a process has the configuration of its run", async () => {
  for (const [later, rollbackOnFailure] of [["2", false], ["3", false], ["3", true]] as const) {
    const fake = new FakeRegistry();
    await using _ = fake;
    fake.add("api", { overlap: true, args: ["1"] });
    const [app] = fake.registry.directory.list();
    await app!.start();
    fake.world.beforeLaunch = () => {
      throw new Error("no");
    };
    const both = ["2", later].map((arg) =>
      changeTo(fake, { ...app!.config, args: [arg] }, { rollbackOnFailure })
    );
    await settle(fake, Promise.all(both));
    const { state } = app!.snapshot;
    assertEquals([state, app!.config.args, app!.specOf(app!.record.snapshot.generation).args], [
      "running",
      ["1"],
      ["1"],
    ]);
  }
});

Deno.test("of two equal reloads at once, both end when every instance is reloaded", async () => {
  await using fake = await running(2);
  const reload = () => reloadAll(fake.registry, fake.registry.directory.list(), {});
  const both = await settle(fake, Promise.all([reload(), reload()]));
  assertEquals(both.flatMap(({ outcomes }) => outcomes.map(({ error }) => error)), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  const releases = fake.registry.directory.app("api")!.releases;
  assertEquals(releases.map(({ result }) => result), ["superseded", "done"]);
});

Deno.test("a failed release is published once, with its rollback, and a good one once", async () => {
  await using fake = await running(2);
  const published: string[][] = [];
  fake.hub.listen(({ type, name, reason, by = "" }) => {
    if (type.startsWith("release")) published.push([type, name, reason.split("\n")[0]!, by]);
  });
  failWith(fake, "api:1", "2");
  const bad = changeTo(fake, release(fake), { rollbackOnFailure: true });
  await settle(fake, bad);
  const [failed] = fake.registry.directory.app("api")!.releases;
  const { reason } = failed!.failure!;
  assertEquals(published.splice(0), [[
    "release_failed",
    "api:1",
    `rolled back: ${reason}`,
    "user",
  ]]);
  await settle(fake, changeTo(fake, { ...release(fake), args: ["3"] }));
  assertEquals(published, [["released", "api:0", "args", "user"]]);
  assertEquals(fake.registry.releases, { done: 1, failed: 0, rolled_back: 1, superseded: 0 });
});

Deno.test("a failed release whose rollback is superseded is published once", async () => {
  await using fake = await running(2);
  const published: string[] = [];
  fake.hub.listen(({ type, reason }) => {
    if (type.startsWith("release")) published.push(`${type} ${reason.split("\n")[0]}`);
  });
  failWith(fake, "api:1", "2");
  const app = fake.registry.directory.app("api")!;
  const bad = changeTo(fake, release(fake), { rollbackOnFailure: true });
  void settle(fake, bad);
  await waitFor(() => app.record.release?.undoes !== undefined);
  await settle(fake, changeTo(fake, { ...release(fake), args: ["3"] }));
  const { reason } = app.releases[0]!.failure!;
  assertEquals(published, [
    `release_failed failed: ${reason}; its rollback was superseded`,
    "released args",
  ]);
  assertEquals(fake.registry.releases, { done: 1, failed: 1, rolled_back: 0, superseded: 0 });
});
