/**
 * A confirmed change is on record: a daemon that is killed right after its answer loses nothing.
 */

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import type { ApplyOptions, ApplyPlan } from "../../src/manager/apply.ts";
import { runBulk } from "../../src/manager/bulk.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { wireKeys } from "../../src/model/key_spelling.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import type { Supervisor } from "../../src/manager/supervisor.ts";
import { Records } from "../../src/manager/records.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { lookAt, lstatIfAny } from "../../src/platform/files/stat.ts";
import { freePort } from "../support/http_load.ts";
import { tempHome } from "../support/temp_home.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

/** Applies a plan to its end. */
async function apply(supervisor: Supervisor, plan: ApplyPlan, options: ApplyOptions = {}) {
  const registered = await supervisor.apply.register(plan, options);
  return await supervisor.apply.carryOut(plan, registered, options);
}

/** The names on record at this moment. */
function recorded(home: string): string[] {
  const { records } = new Records(pathsIn(home)).readAll();
  return records.map(({ identity }) => identity.name).sort();
}

Deno.test("apply() records a process that it only registers before it returns", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const wire = { name: "idle", entrypoint: "/bin/sleep", cwd: test.home, autostart: false };
  await apply(supervisor, await supervisor.apply.plan([parseConfig(wire)]));
  assertEquals(recorded(test.home), ["idle"]);
});

Deno.test("apply() lists every app before the first is up, and starts none that is deleted or stopped meanwhile", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const app = { entrypoint: "/bin/sleep", args: ["1000"], cwd: test.home };
  const wanted = [
    {
      ...app,
      name: "first",
      wait_ready: true,
      health_check: { type: "command", command: "[ -e go ]" },
    },
    { ...app, name: "later", depends_on: { first: "ready" } },
    { ...app, name: "deleted", depends_on: { first: "ready" } },
    { ...app, name: "held", depends_on: { first: "ready" } },
  ].map((wire) => parseConfig(wire));
  const plan = await supervisor.apply.plan(wanted);
  const applying = apply(supervisor, plan, { wait: true });
  const states = () => supervisor.list().map(({ name, state }) => `${name} ${state}`);
  await waitFor(() => supervisor.inspect("first").pid > 0);
  assertEquals(states(), [
    "first starting",
    "later stopped",
    "deleted stopped",
    "held stopped",
  ]);
  assertEquals(recorded(test.home), ["deleted", "first", "held", "later"]);
  const { records } = new Records(pathsIn(test.home)).readAll();
  assertEquals(records.map(({ snapshot }) => snapshot.desired), ["up", "up", "up", "up"]);
  await supervisor.remove("deleted");
  await supervisor.stop("held");
  Deno.writeTextFileSync(`${test.home}/go`, "");
  const { errors } = await applying;
  assertEquals(errors, ['Cannot start "held": it was stopped meanwhile']);
  assertEquals(states(), ["first running", "later running", "held stopped"]);
});

Deno.test("apply() reports what a shutdown keeps from starting", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const app = { entrypoint: "/bin/sleep", args: ["1000"], cwd: test.home };
  const wanted = [
    { ...app, name: "first", wait_ready: true },
    { ...app, name: "later", depends_on: { first: "ready" } },
  ].map((wire) => parseConfig(wire));
  const applying = apply(supervisor, await supervisor.apply.plan(wanted), { wait: true });
  await waitFor(() => supervisor.inspect("first").pid > 0);
  await supervisor.shutDown();
  const { outcomes } = await applying;
  assertEquals(outcomes.map(({ process, error }) => [process.name, error?.code]), [
    ["first", "closed"],
    ["later", "wrong_state"],
  ]);
});

Deno.test("scale() records and returns the instances of a scheduled job", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await supervisor.add({ name: "job", entrypoint: "/bin/true", cwd: test.home, cron: "@yearly" });
  const added = await supervisor.scale("job", 2);
  assertEquals(recorded(test.home), ["job:0", "job:1"]);
  assertEquals(added.map(({ process }) => [process.name, process.snapshot.state]), [
    ["job:1", "stopped"],
  ]);
});

Deno.test("apply() treats an app that exits at once as a failure, unless others wait for its exit", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const app = { entrypoint: "/bin/sh", cwd: test.home, min_uptime: "2s" };
  const wanted = [
    { ...app, name: "migrate", args: ["-c", "exit 0"] },
    { ...app, name: "gone", args: ["-c", "exit 0"] },
    { ...app, name: "web", args: ["-c", "exec sleep 99"], depends_on: { migrate: "completed_ok" } },
  ].map((wire) => parseConfig(wire));
  const { errors } = await apply(supervisor, await supervisor.apply.plan(wanted), { wait: true });
  assertEquals(errors, ['Cannot start "gone": exited with code 0 before min_uptime 2s']);
  const [again] = await supervisor.restart("migrate", { wait: true });
  assertEquals(again!.error, undefined);
});

Deno.test("apply() and restart() report an app that fails while others are starting", async () => {
  await using test = await TestManager.open();
  const { supervisor, home } = test;
  const script = "echo lost the queue >&2; until [ -e go ]; do sleep 0.02; done; exit 3";
  const app = { cwd: home, min_uptime: "0s", restart_policy: "never" };
  const wanted = [
    { ...app, name: "brief", entrypoint: "/bin/sh", args: ["-c", script] },
    {
      ...app,
      name: "slow",
      entrypoint: "/bin/sleep",
      args: ["1000"],
      wait_ready: true,
      health_check: { type: "command", command: "[ -e done ]" },
    },
  ].map((wire) => parseConfig(wire));
  const plan = await supervisor.apply.plan(wanted);
  const ends = async () => {
    await waitFor(() => supervisor.inspect("brief").state === "running");
    Deno.writeTextFileSync(`${home}/go`, "");
    await waitFor(() => supervisor.inspect("brief").state === "crashed");
    Deno.writeTextFileSync(`${home}/done`, "");
  };
  const [{ errors, outcomes }] = await Promise.all([
    apply(supervisor, plan, { wait: true }),
    ends(),
  ]);
  assertEquals(errors, ['Cannot start "brief": exited with code 3']);
  assertEquals(outcomes.map(({ lastWords }) => lastWords?.lastOutput), [
    ["lost the queue"],
    undefined,
  ]);
  for (const name of ["go", "done"]) Deno.removeSync(`${home}/${name}`);
  const [restarted] = await Promise.all([supervisor.restart("all", { wait: true }), ends()]);
  assertEquals(restarted.map(({ error }) => error?.message), [errors[0], undefined]);
});

Deno.test("apply() keeps the last output of a failed start, although the next run has started", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const app = { entrypoint: "/bin/sh", cwd: test.home };
  const again = `[ -e again ] && exec sleep 99; touch again; echo "port is taken" >&2; exit 3`;
  const wanted = [
    { ...app, name: "clash", args: ["-c", again], restart_delay: "1ms" },
    { ...app, name: "slow", args: ["-c", "exec sleep 99"], min_uptime: "500ms" },
  ].map((wire) => parseConfig(wire));
  const plan = await supervisor.apply.plan(wanted);
  const { outcomes } = await apply(supervisor, plan, { wait: true });
  const failed = outcomes.find(({ error }) => error !== undefined);
  assertEquals(failed?.lastWords?.lastOutput, ["port is taken"]);
});

Deno.test("apply() recreates a deleted instance, and leaves the others running", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { instances: 3 });
  const config = supervisor.process("web:1").config;
  const [first, , last] = test.pids("web");
  await supervisor.remove("web:1");
  const plan = await supervisor.apply.plan([config]);
  assertEquals(plan.changed.map(({ fields, restarts }) => [fields, restarts]), [
    [[{ field: "instances", from: 2, to: 3 }], false],
  ]);
  assertEquals((await apply(supervisor, plan)).errors, []);
  const names = supervisor.list().map(({ name }) => name);
  assertEquals(names, ["web:0", "web:2", "web:1"]);
  await test.until("web:1", "running");
  assertEquals(test.pids("web").slice(0, 2), [first, last]);
  assertEquals((await supervisor.apply.plan([config])).unchanged, ["web"]);
});

Deno.test("apply() adds instances although one is deleted during the reload", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { instances: 2, ready_delay: "300ms" });
  const config = { ...supervisor.process("web:0").config, env: { NEW: "1" }, instances: 3 };
  const applying = apply(supervisor, await supervisor.apply.plan([config]));
  await test.until("web:0", "starting");
  // On record from the beginning, for a daemon that is killed meanwhile.
  const { record, wanted } = supervisor.directory.app("web")!;
  assertEquals([record.release?.growsBy, wanted.instances, supervisor.list().length], [1, 3, 2]);
  await supervisor.remove("web:1");
  await applying;
  assertEquals(supervisor.list().length, 3);
});

Deno.test("apply() leaves the number of instances to a later scale", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { instances: 2, ready_delay: "300ms" });
  const config = { ...supervisor.process("web:0").config, env: { NEW: "1" }, instances: 4 };
  const applying = apply(supervisor, await supervisor.apply.plan([config]));
  await test.until("web:0", "starting");
  await supervisor.scale("web", 3);
  await applying;
  assertEquals(supervisor.list().map(({ config }) => config.env), Array(3).fill({ NEW: "1" }));
});

Deno.test("apply() leaves an app alone in a late wave if a later request has it otherwise", async () => {
  for (const later of ["2", "0"]) {
    await using test = await TestManager.open();
    const { supervisor } = test;
    const gate = { pre_stop: "touch hooked; while [ ! -e go ]; do sleep 0.02; done" };
    await test.script("db", "exec sleep 1000", { hooks: gate });
    await test.script("web", "exec sleep 1000", { env: { V: "0" }, depends_on: ["db"] });
    const plan = (v: string) => {
      const [db, web] = ["db", "web"].map((name) => supervisor.process(name).config);
      return supervisor.apply.plan([
        { ...db!, args: ["-c", "exec sleep 1001"] },
        { ...web!, env: { V: v } },
      ]);
    };
    const earlier = apply(supervisor, await plan("1"));
    await waitFor(() => lstatIfAny(`${test.home}/hooked`), { what: "the hook" });
    await apply(supervisor, await plan(later));
    Deno.writeTextFileSync(`${test.home}/go`, "");
    const { errors } = await earlier;
    assertEquals(supervisor.process("web").config.env, { V: later });
    assertEquals(errors, ['Cannot reload "web": a later request changes its configuration']);
  }
});

Deno.test("apply() waits for the same change of an earlier request, and fails with it", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { overlap: true });
  const fails = { args: ["-c", "touch begun; while [ ! -e go ]; do sleep 0.02; done; exit 3"] };
  const plan = async () => {
    const { config } = supervisor.process("web");
    return await supervisor.apply.plan([{ ...config, ...fails, minUptimeMs: 60_000 }]);
  };
  const earlier = apply(supervisor, await plan());
  await waitFor(() => lstatIfAny(`${test.home}/begun`), { what: "the new run" });
  const later = apply(supervisor, await plan(), { startDown: true });
  Deno.writeTextFileSync(`${test.home}/go`, "");
  const expected = ['Cannot reload "web": it ended at once'];
  assertEquals([(await earlier).errors, (await later).errors], [expected, expected]);
  assertEquals((await plan()).changed.length, 1);
});

Deno.test("apply() adds no instances after a failed reload, and still sees what to change", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000", { instances: 2, min_uptime: "30s" });
  const { config } = supervisor.process("web:0");
  const wanted = { ...config, args: ["-c", "exit 3"], instances: 3 };
  const { errors } = await apply(supervisor, await supervisor.apply.plan([wanted]));
  assertEquals(errors.length, 1);
  assertEquals(supervisor.list().map(({ name }) => name), ["web:0", "web:1"]);
  assertEquals(supervisor.process("web:1").config, config);
  const { changed } = await supervisor.apply.plan([wanted]);
  assertEquals(changed[0]!.fields.map(({ field }) => field), ["args", "instances"]);
});

Deno.test("apply() stops apps that become jobs, because their schedule starts them", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "echo run >> runs; exec sleep 1000", { instances: 2 });
  const runs = () => Deno.readTextFileSync(`${test.home}/runs`);
  await waitFor(() => runs() === "run\nrun\n");
  const { config } = supervisor.process("web:0");
  const job = parseConfig({ ...wireKeys(config), cron: "@yearly" });
  const plan = await supervisor.apply.plan([job]);
  assertEquals(plan.changed.map(({ restarts, stops }) => [restarts, stops]), [[false, true]]);
  assertEquals((await apply(supervisor, plan)).errors, []);
  const next = await supervisor.apply.plan([{ ...job, args: ["-c", "exit"] }]);
  assertEquals(next.changed.map(({ restarts, stops }) => [restarts, stops]), [[false, false]]);
  assertEquals(supervisor.list().map(({ name, state }) => `${name} ${state}`), [
    "web:0 stopped",
    "web:1 stopped",
  ]);
  assertEquals((await supervisor.apply.plan([job])).unchanged, ["web"]);
  assertEquals(supervisor.scheduler.list().map(({ running, history }) => [running, history]), [
    [false, []],
    [false, []],
  ]);
  assertEquals(runs(), "run\nrun\n");
});

Deno.test("apply() tries an app once that fails with its new configuration", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  await test.script("web", "exec sleep 1000");
  const { config } = supervisor.process("web");
  const failing = parseConfig({
    ...{ ...wireKeys(config), restart_policy: "never" },
    args: ["-c", "echo run >> runs; exit 3"],
  });
  const plan = await supervisor.apply.plan([failing]);
  const { outcomes, errors } = await apply(supervisor, plan, { startDown: true, wait: true });
  assertEquals([outcomes.length, errors.length], [1, 1]);
  assertEquals(Deno.readTextFileSync(`${test.home}/runs`), "run\n");
});

Deno.test("apply() starts jobs that become apps, unless their schedule was switched off", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const app = (name: string, seconds: number) => ({
    ...{ name, entrypoint: "/bin/sleep", args: [String(seconds)], cwd: test.home },
  });
  const jobs = ["idle", "off", "busy"].map((name) => ({ ...app(name, 1000), cron: "@yearly" }));
  for (const job of jobs) await supervisor.add(job);
  supervisor.scheduler.enable([supervisor.process("off")], false);
  supervisor.scheduler.run([supervisor.process("busy")]);
  await waitFor(() => supervisor.inspect("busy").pid > 0);
  const { pid } = supervisor.inspect("busy");
  const wanted = ["idle", "off", "busy"].map((name) => parseConfig(app(name, 2000)));
  const plan = await supervisor.apply.plan(wanted);
  assertEquals(plan.changed.map(({ restarts, stops, starts }) => [restarts, stops, starts]), [
    [false, false, true],
    [false, false, false],
    [true, false, false],
  ]);
  assertEquals((await apply(supervisor, plan, { wait: true })).errors, []);
  assertEquals(supervisor.list().map(({ name, state }) => `${name} ${state}`), [
    "idle running",
    "off stopped",
    "busy running",
  ]);
  assertNotEquals(supervisor.inspect("busy").pid, pid);
  assertEquals((await supervisor.apply.plan(wanted)).unchanged, ["idle", "off", "busy"]);
});

Deno.test("plan() explains how to fix an app that cannot start", async () => {
  await using test = await TestManager.open();
  Deno.writeTextFileSync(`${test.home}/backup.sh`, "#!/bin/sh\n", { mode: 0o644 });
  const wire = { name: "nightly", entrypoint: "backup.sh", cwd: test.home };
  const report = { ...wire, name: "report", entrypoint: "/bin/true", depends_on: ["nightly"] };
  const error = await assertRejects(
    () => test.supervisor.apply.plan([wire, report].map((wire) => parseConfig(wire))),
    ProcsupError,
    "is not executable",
  );
  assertEquals(
    error.hint?.text,
    `Run chmod +x ${test.home}/backup.sh, or set runtime or interpreter`,
  );
});

Deno.test("runBulk() reports a failed start even if its last output cannot be read", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 99");
  const [process] = test.supervisor.directory.list();
  Deno.removeSync(process!.logs.stdout);
  Deno.mkdirSync(process!.logs.stdout);
  const failing = () => Promise.reject(new ProcsupError("start_failed", "it fails"));
  const [outcome] = await runBulk([process!], failing);
  assertEquals([outcome!.error?.message, outcome!.lastWords], ["it fails", undefined]);
});

Deno.test("apply() moves sockets and logs from one app to another, and from one that it removes", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const [one, two] = [`127.0.0.1:${freePort()}`, `127.0.0.1:${freePort()}`];
  await using logs = tempHome();
  const app = (name: string, socket: string, log: string) =>
    parseConfig({
      ...{ name, entrypoint: "/bin/sleep", args: ["1000"], cwd: test.home, min_uptime: "10ms" },
      ...{ sockets: [socket], log: { stdout: `${logs.path}/${log}` } },
    });
  const put = async (...wanted: ReturnType<typeof app>[]) => {
    const plan = await supervisor.apply.plan(wanted, ["web", "api"], { prune: true });
    assertEquals((await apply(supervisor, plan, { prune: true })).errors, []);
    return plan.waves.map((wave) => wave.map(({ name }) => name));
  };
  const states = () => supervisor.list().map(({ name, state }) => `${name} ${state}`);
  await put(app("web", one, "1"));
  assertEquals(await put(app("api", one, "1"), app("web", two, "2")), [["web"], ["api"]]);
  assertEquals(states(), ["web running", "api running"]);
  const swapped = [app("api", two, "1"), app("web", one, "2")];
  await assertRejects(
    () => supervisor.apply.plan(swapped),
    ProcsupError,
    "Sockets or logs move in a circle: api → web → api",
  );
  const renamed = [app("web2", two, "2")];
  await assertRejects(() => supervisor.apply.plan(renamed, ["web"]), ProcsupError, "belongs to");
  await put(...renamed);
  assertEquals(states(), ["web2 running"]);
});

Deno.test("apply() also changes an app back that was changed since the plan was made", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const wire = { name: "app", entrypoint: "/bin/sleep", args: ["1000"], cwd: test.home };
  const wanted = [parseConfig(wire)];
  await apply(supervisor, await supervisor.apply.plan(wanted));
  const plan = await supervisor.apply.plan(wanted);
  await supervisor.reconfigure("app", { keys: { env: { NEW: "1" } } });
  assertEquals((await apply(supervisor, plan)).outcomes.length, 1);
  assertEquals(supervisor.inspect("app").config.env, {});
});

Deno.test("apply() starts nothing that was stopped since the plan was begun", async () => {
  await using test = await TestManager.open();
  const { supervisor } = test;
  const wire = { name: "app", entrypoint: "/bin/sleep", args: ["1000"], cwd: test.home };
  const wanted = [parseConfig(wire)];
  await apply(supervisor, await supervisor.apply.plan(wanted));
  const plan = await supervisor.apply.plan(wanted);
  await supervisor.stop("app");
  const { errors } = await apply(supervisor, plan, { startDown: true });
  assertEquals(errors, ['Cannot start "app": it was stopped meanwhile']);
  assertEquals(supervisor.inspect("app").state, "stopped");
});

Deno.test("a planned change names its keys and whether runs are replaced, and runs nothing", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000");
  const { supervisor } = test;
  const before = test.info("app");
  const ran = `${test.home}/ran`;
  const plan = async (keys: Record<string, unknown>) => {
    const { fields, replaces } = await supervisor.plannedChange("app", { keys });
    return [fields.map(({ field }) => field), replaces];
  };
  const secrets = { TOKEN: { command: `touch ${ran}; echo secret` } };
  assertEquals(await plan({ env: { NEW: "1" }, secrets }), [["env.NEW", "secrets.TOKEN"], true]);
  assertEquals(await plan({ tags: ["new"] }), [["tags"], false]);
  assertEquals(await plan({}), [[], false]);
  await assertRejects(() => plan({ stop_timeout: "soon" }), ProcsupError, "stop_timeout");
  const { pid, config } = test.info("app");
  assertEquals([pid, config, lookAt(ran)], [before.pid, before.config, undefined]);
});

Deno.test("two changes of different keys at once are both made", async () => {
  await using test = await TestManager.open();
  await test.script("app", "exec sleep 1000");
  const secrets = { TOKEN: { command: "sleep 0.3; echo secret" } };
  await Promise.all([
    test.supervisor.reconfigure("app", { keys: { secrets } }),
    test.supervisor.reconfigure("app", { keys: { env: { NEW: "1" } } }),
  ]);
  const { config } = test.info("app");
  assertEquals([Object.keys(config.secrets), config.env], [["TOKEN"], { NEW: "1" }]);
});
