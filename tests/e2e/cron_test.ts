/** Scheduled jobs and restarts, with real processes and a daemon that is killed. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { sleep } from "../../src/platform/clock.ts";
import type { CronJson } from "../../src/protocol/wire.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const EVERY_SECOND = "* * * * * *";
/** A schedule that is never due during a test. */
const RARELY = "0 0 29 2 *";

async function schedule(daemon: TestDaemon, name: string): Promise<CronJson> {
  return (await daemon.client.call("cron_list", { name }))[0]!;
}

async function statuses(daemon: TestDaemon, name: string): Promise<string[]> {
  return (await schedule(daemon, name)).history.map(({ status }) => status);
}

function lines(path: string): number {
  return Deno.readTextFileSync(path).split("\n").length - 1;
}

Deno.test("a job is run only by its schedule, and its history shows the results", async () => {
  const { state, pid } = await daemon.startScript("job", "echo ran; exit 3", {
    cron: EVERY_SECOND,
  });
  assertEquals([state, pid], ["stopped", 0]);
  await waitFor(async () => (await schedule(daemon, "job")).history.length >= 2, {
    what: "two runs",
  });
  const job = await schedule(daemon, "job");
  assertEquals([job.type, job.enabled, job.last_status, job.last_exit_code], [
    "job",
    true,
    "failed",
    3,
  ]);
  const [first, second] = job.history;
  assert(Date.parse(second!.started_at) > Date.parse(first!.finished_at));
  assert(lines(`${daemon.home}/apps/job/stdout.log`) >= 2);
  // A failed run is not retried before the next tick.
  assertEquals((await daemon.status("job")).restarts, 0);
});

Deno.test("a job's history and enabled state survive a killed daemon", async () => {
  await daemon.startScript("job", "exit 0", { cron: RARELY });
  await daemon.client.call("cron_run", { name: "job" });
  await waitFor(async () => (await statuses(daemon, "job")).length === 1);
  await daemon.client.call("cron_stop", { name: "job" });
  const before = await schedule(daemon, "job");
  await daemon.kill();
  await daemon.run();
  assertEquals(await schedule(daemon, "job"), before);
  assertEquals([before.enabled, before.next_run, before.last_status], [false, null, "ok"]);
  assertEquals((await daemon.status("job")).state, "stopped");
  const started = await daemon.client.call("cron_start", "job");
  assertEquals(started, { status: "started", name: "job" });
  assert((await schedule(daemon, "job")).next_run !== null);
});

Deno.test("a run continues and is recorded although the daemon is killed meanwhile", async () => {
  const gate = `${daemon.home}/gate`;
  const script = `while [ ! -e ${gate} ]; do sleep 0.05; done; exit 5`;
  for (const name of ["adopted", "ended"]) {
    await daemon.startScript(name, script, { cron: RARELY });
    await daemon.client.call("cron_run", name);
    await waitFor(async () => (await daemon.status(name)).pid > 0);
  }
  await daemon.startScript("queues", script, { cron: { schedule: RARELY, overlap: "queue" } });
  for (let run = 0; run < 2; run++) await daemon.client.call("cron_run", "queues");
  const { pid } = await daemon.status("adopted");
  await daemon.kill();
  await daemon.run();
  assert((await schedule(daemon, "adopted")).running);
  assertEquals((await daemon.status("adopted")).pid, pid);
  await daemon.kill();
  Deno.writeTextFileSync(gate, "");
  await waitFor(() => !isAlive(pid));
  await daemon.run();
  for (const name of ["adopted", "ended"]) {
    await waitFor(async () => (await statuses(daemon, name)).length === 1);
    const job = await schedule(daemon, name);
    assertEquals([job.last_status, job.last_exit_code, job.running], ["failed", 5, false]);
  }
  await waitFor(async () => (await statuses(daemon, "queues")).length === 2, {
    what: "the run that was queued",
  });
});

Deno.test("a restart by the clock whose daemon is killed in its pre_restart hook takes place", async () => {
  const hook = "echo hook >>hooks; while [ ! -e go ]; do sleep 0.1; done; echo end >>hooks";
  const { pid } = await daemon.startScript("app", "exec sleep 1000", {
    ...{ cwd: daemon.home, cron_restart: RARELY, hooks: { pre_restart: hook } },
  });
  const hooks = () => readFileIfAny(`${daemon.home}/hooks`);
  await daemon.client.call("cron_run", "app");
  await waitFor(() => hooks() === "hook\n", { what: "the hook" });
  await daemon.kill();
  await daemon.run();
  await waitFor(() => hooks() === "hook\nhook\n", { what: "the hook again" });
  assertEquals((await daemon.status("app")).pid, pid);
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
  await waitFor(async () => (await statuses(daemon, "app")).length === 1, { what: "the result" });
  assertEquals(await statuses(daemon, "app"), ["ok"]);
  assertEquals(hooks(), "hook\nhook\nend\n", "the first one was killed");
  const after = await daemon.status("app");
  assert(after.pid > 0 && after.pid !== pid);
  // It does not happen once more.
  await daemon.kill();
  await daemon.run();
  assertEquals((await schedule(daemon, "app")).running, false);
});

Deno.test("a job that was due while the daemon was replaced runs once", async () => {
  await daemon.startScript("app", "date +%s >>runs", {
    ...{ cwd: daemon.home, cron: "*/20 * * * * *" },
  });
  const toNext = () => 20_000 - Date.now() % 20_000;
  await sleep(toNext() - 500);
  const due = Date.now() + toNext();
  await daemon.kill();
  await sleep(due + 100 - Date.now());
  await daemon.run();
  const runs = () => (readFileIfAny(`${daemon.home}/runs`) ?? "").trim().split("\n").map(Number);
  await waitFor(() => runs()[0]! > 0, { what: "the run" });
  assert(runs()[0]! * 1000 < due + 15_000, "the run that was due, not the next one");
  await daemon.kill();
  await daemon.run();
  await sleep(500);
  assertEquals(runs().filter((at) => at * 1000 < due + 19_000).length, 1);
});

Deno.test("a job that is due during a run is skipped, replaced or queued, as configured", async () => {
  const job = (overlap: string) => ({ cron: { schedule: EVERY_SECOND, overlap } });
  await daemon.startScript("skips", "sleep 1000", job("skip"));
  await daemon.startScript("replaces", "sleep 1000", job("kill"));
  await daemon.startScript("queues", "sleep 1.5", job("queue"));
  await waitFor(async () => (await statuses(daemon, "skips")).includes("skipped"));
  await waitFor(async () => (await statuses(daemon, "replaces")).length >= 2);
  await waitFor(async () => (await statuses(daemon, "queues")).length >= 2);
  assertEquals([...new Set(await statuses(daemon, "skips"))], ["skipped"]);
  assertEquals([...new Set(await statuses(daemon, "replaces"))], ["killed"]);
  const queued = (await schedule(daemon, "queues")).history;
  assertEquals([...new Set(queued.map(({ status }) => status))], ["ok"]);
  assert(Date.parse(queued[1]!.started_at) >= Date.parse(queued[0]!.finished_at));
});

for (const overlap of ["queue", "kill"]) {
  Deno.test(`stop and delete of a job are final, whatever is queued: ${overlap}`, async () => {
    const slow = "trap 'sleep 0.2; exit 0' TERM; while :; do sleep 1000 & wait; done";
    const cron = { schedule: EVERY_SECOND, overlap };
    const again = async () => {
      await daemon.client.call("cron_run", "job");
      await daemon.client.call("cron_run", "job");
    };
    await daemon.startScript("job", slow, { cron });
    await again();
    await daemon.client.call("cron_stop", "job");
    const stopped = await daemon.client.call("stop", { target: "job" });
    assertEquals(stopped.results.map(({ ok, state }) => [ok, state]), [[true, "stopped"]]);
    assertEquals((await daemon.status("job")).state, "stopped");
    await daemon.client.call("cron_start", "job");
    await again();
    const deleted = await daemon.client.call("delete", "job");
    assertEquals(deleted.results.map(({ ok, error }) => [ok, error]), [[true, undefined]]);
    assertEquals(await daemon.client.call("list"), []);
  });
}

Deno.test("a run that times out is terminated with everything it started", async () => {
  await daemon.startScript("slow", "sleep 1000 & sleep 1000", {
    cron: { schedule: RARELY, timeout: "300ms" },
  });
  await daemon.client.call("cron_run", "slow");
  await waitFor(async () => (await statuses(daemon, "slow")).includes("timeout"));
  const slow = await daemon.status("slow");
  assertEquals([slow.state, slow.last_reason], ["stopped", "timed out after 300ms"]);
});

Deno.test("cron_restart restarts a running app with its hooks, and leaves a stopped one alone", async () => {
  const hooked = `${daemon.home}/hooked`;
  const { pid } = await daemon.startScript("app", "exec sleep 1000", {
    cron_restart: EVERY_SECOND,
    hooks: { pre_restart: `echo pre >>${hooked}`, post_restart: `echo post >>${hooked}` },
  });
  await waitFor(async () => {
    const now = await daemon.status("app");
    return now.state === "running" && now.pid > 0 && now.pid !== pid;
  }, { what: "a new pid" });
  assertEquals((await daemon.status("app")).last_reason, "restarted by schedule");
  await daemon.client.call("stop", { target: "app" });
  const ran = (hook: string) => Deno.readTextFileSync(hooked).split("\n").includes(hook);
  await waitFor(() => ran("pre") && ran("post"), { what: "both hooks" });
  assertEquals((await schedule(daemon, "app")).type, "restart");
  const runs = (await statuses(daemon, "app")).length;
  const next = async () => Date.parse((await schedule(daemon, "app")).next_run!);
  const then = await next();
  await waitFor(async () => await next() > then + 1000, { what: "two more moments to pass" });
  assertEquals((await daemon.status("app")).state, "stopped");
  assert((await statuses(daemon, "app")).length <= runs + 1);
});

Deno.test("a job runs when it is named, but not when everything is started", async () => {
  await daemon.startScript("job", "exit 0", { cron: RARELY });
  await daemon.client.call("restart", "all");
  await daemon.client.call("start", { target: "all" }).catch(() => {});
  assertEquals(await statuses(daemon, "job"), []);
  await daemon.client.call("start", { target: "job" });
  await waitFor(async () => (await statuses(daemon, "job")).length === 1);
});

Deno.test("resurrect registers a job and does not run it", async () => {
  await daemon.startScript("job", "exit 0", { cron: RARELY });
  await daemon.client.call("start", { target: "job" });
  await daemon.client.call("save");
  await daemon.client.call("delete", "job");
  await daemon.client.call("resurrect");
  const job = await schedule(daemon, "job");
  assertEquals([job.running, job.history], [false, []]);
  assertEquals((await daemon.status("job")).pid, 0);
});

Deno.test("an invalid schedule is rejected by name, and nothing is registered", async () => {
  const refused: readonly [object, string][] = [
    [{ cron: "0 0 31 2 *" }, 'Invalid "cron.schedule" "0 0 31 2 *": this date never comes'],
    [{ cron_restart: "* * *" }, 'Invalid "cron_restart.schedule" "* * *": expected 5 or 6 fields'],
    [
      { cron: { schedule: "@daily", timezone: "Mars/Olympus" } },
      'Invalid "cron.timezone" "Mars/Olympus": unknown timezone',
    ],
  ];
  for (const [config, message] of refused) {
    const start = daemon.startScript("job", "exit 0", config as Record<string, unknown>);
    const error = await assertRejects(() => start, ProcsupError, message);
    assertEquals(error.code, "invalid_config");
  }
  assertEquals(await daemon.client.call("list"), []);
});

Deno.test("a cron verb names a process without a schedule, and a missing one", async () => {
  await daemon.startScript("app", "exec sleep 1000");
  for (const verb of ["cron_run", "cron_start", "cron_stop"] as const) {
    const error = await assertRejects(() => daemon.client.call(verb, "app"), ProcsupError);
    assertEquals([error.code, error.message], ["wrong_state", 'No schedule: "app"']);
    const gone = await assertRejects(() => daemon.client.call(verb, "nope"), ProcsupError);
    assertEquals(gone.code, "process_not_found");
  }
  assertEquals(await daemon.client.call("cron_list"), []);
});

Deno.test("procsup cron lists, runs, enables, disables and predicts runs", async () => {
  const script = `${daemon.home}/job.sh`;
  Deno.writeTextFileSync(script, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const schedule = ["--cron", "0 4 * * *", "--timezone", "UTC"];
  const started = await daemon.cli("start", script, "--name", "job", ...schedule);
  assertEquals([started.code, started.stdout], [0, "✔ job  scheduled\n"]);
  assertEquals((await daemon.cli("cron", "run", "job")).stdout, "✔ job  running\n");
  await waitFor(async () => (await statuses(daemon, "job")).includes("ok"));
  const list = await daemon.cli("cron");
  assertMatch(list.stdout, /^NAME +TYPE +SCHEDULE +TIMEZONE +ENABLED +NEXT +LAST +STATUS +EXIT\n/);
  assertMatch(list.stdout, /job +job +0 4 \* \* \* +UTC +yes .* ok +0\n$/);
  const next = JSON.parse((await daemon.cli("cron", "next", "job", "--json")).stdout);
  assertEquals(next[0].next_runs.length, 5);
  assertMatch(next[0].next_runs[0], /T04:00:00.000Z$/);
  assertMatch((await daemon.cli("cron", "history", "job")).stdout, /NAME +AT .*\njob .* ok +0\n$/s);
  assertEquals((await daemon.cli("cron", "stop", "job")).stdout, "✔ job  schedule off\n");
  assertMatch((await daemon.cli("cron", "list", "job")).stdout, / no +- /);
});

Deno.test("procsup cron reports unknown processes", async () => {
  const cases: readonly [string[], number, RegExp][] = [
    [
      ["cron", "strat", "x"],
      2,
      /Unknown word "strat" after "cron"\n.*Did you mean "procsup cron start"/,
    ],
    [["cron", "run"], 2, /Too few words for "cron run"/],
    [["cron", "run", "nope"], 4, /Process not found/],
    [["start", "/bin/true", "--timezone", "UTC"], 2, /Cannot use --timezone without --cron/],
    [["start", "/bin/true", "--cron", "99 * * * *"], 2, /Invalid "cron.schedule" "99 \* \* \* \*"/],
  ];
  for (const [args, code, message] of cases) {
    const result = await daemon.cli(...args);
    assertEquals(result.code, code, result.stderr);
    assertMatch(result.stderr, message);
  }
});
