/** Scheduled jobs and restarts, with a clock that the test controls. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { RetriedWrites } from "../../src/platform/files/retried_writes.ts";
import { Scheduler } from "../../src/schedules/scheduler.ts";
import type { ScheduledProcess } from "../../src/schedules/schedule_runners.ts";
import { Waiters } from "../../src/process/waiters.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { type TempHome, tempHome } from "../support/temp_home.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A process that runs until the test ends it. */
class FakeProcess implements ScheduledProcess {
  readonly id: string;
  readonly name: string;
  readonly identity: { readonly createdAt: Date };
  config: ProcessConfig;
  snapshot: Snapshot = NEW;
  isBeingStopped = false;
  /** The verbs requested of it. */
  readonly acts: string[] = [];
  changed: (before: Snapshot) => void = () => {};
  readonly #clock: FakeClock;
  readonly #waiters = new Waiters();

  constructor(clock: FakeClock, config: Record<string, unknown>, name = "job") {
    this.#clock = clock;
    this.config = parseConfig({ name, entrypoint: "x", cwd: "/", ...config });
    this.id = `id-of-${name}`;
    this.name = name;
    this.identity = { createdAt: new Date(clock.now()) };
  }

  start({ reason = "" } = {}): Promise<void> {
    this.acts.push(reason);
    const attempt = this.snapshot.attempt + 1;
    this.#become({ state: "running", desired: "up", attempt, startedAt: this.#clock.now() });
    return Promise.resolve();
  }

  restart({ reason = "" } = {}): Promise<void> {
    this.acts.push(reason);
    return Promise.resolve();
  }

  stop({ reason = "" } = {}): Promise<void> {
    this.acts.push(reason);
    this.#become({ state: "stopped", desired: "down" });
    return Promise.resolve();
  }

  until(condition: (now: Snapshot) => boolean): Promise<Snapshot> {
    return this.#waiters.until(condition, this.snapshot);
  }

  /** A user stops it; it has stopped when it exits. */
  beginStop(): void {
    this.isBeingStopped = true;
    this.#become({ state: "stopping", desired: "down" });
  }

  /** A user restarts it while it runs or stops. */
  startAnew(): void {
    this.#become({ state: "stopping", desired: "up", stopCause: "asked" });
    this.#become({ state: "starting", stopCause: null });
  }

  /** It exits by itself. */
  exit(code: number): void {
    const lastExit = { code, signal: null, at: new Date(this.#clock.now()) };
    const state = code === 0 ? "stopped" : "crashed";
    this.#become({ state, lastExit, finishedAt: this.#clock.now() });
  }

  /** A user started it. */
  up(): this {
    this.#become({ state: "running", desired: "up" });
    return this;
  }

  #become(news: Partial<Snapshot>): void {
    const before = this.snapshot;
    this.snapshot = { ...before, ...news };
    this.changed(before);
    this.#waiters.check(this.snapshot);
  }
}

/** A scheduler of some processes, with its clock and folder. */
class Scene implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly processes: FakeProcess[] = [];
  readonly warnings: string[] = [];
  /** The reasons of the events that tell of missing runs. */
  readonly overdue: string[] = [];
  readonly home: TempHome = tempHome();
  scheduler!: Scheduler;

  /** A scene with one process. */
  static async with(config: Record<string, unknown>): Promise<Scene> {
    const scene = new Scene();
    scene.processes.push(new FakeProcess(scene.clock, config));
    await scene.restart();
    return scene;
  }

  get job(): FakeProcess {
    return this.processes[0]!;
  }

  /** The results of the runs, oldest first. */
  get statuses(): string[] {
    return this.scheduler.list()[0]!.history.map(({ status }) => status);
  }

  /** The next daemon takes over. */
  async restart(): Promise<void> {
    this.scheduler?.close();
    const scheduler = new Scheduler({
      clock: this.clock,
      folder: `${this.home.path}/cron`,
      list: () => this.processes,
      writes: new RetriedWrites(this.clock, (message) => this.warnings.push(message)),
      warn: (message) => this.warnings.push(message),
      overdue: (_, reason) => this.overdue.push(reason),
    });
    for (const process of this.processes) {
      process.changed = (before) => scheduler.changed(process, before);
    }
    this.scheduler = scheduler;
    await scheduler.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.scheduler.close();
    assertEquals(this.clock.pending, 0);
    await this.home[Symbol.asyncDispose]();
  }
}

/** Waits for callbacks of the next event loop turn. */
function turn(): Promise<void> {
  return Promise.resolve();
}

const UTC = { timezone: "UTC" };
const EVERY_MINUTE = { cron: { schedule: "* * * * *", ...UTC } };

Deno.test("Scheduler runs a job exactly at every tick", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE - 1);
  assertEquals(scene.job.acts, []);
  for (let runs = 1; runs <= 3; runs++) {
    scene.clock.advance(runs === 1 ? 1 : MINUTE);
    assertEquals(scene.job.acts, Array(runs).fill("started by schedule"));
    scene.job.exit(0);
  }
});

Deno.test("Scheduler records the results of runs", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.clock.advance(1500);
  scene.job.exit(0);
  scene.clock.advance(MINUTE);
  scene.job.exit(3);
  scene.clock.advance(MINUTE);
  await scene.job.stop();
  const start = Date.UTC(2026, 0, 1, 12);
  assertEquals(scene.scheduler.list()[0]!.history, [
    { at: start + MINUTE, durationMs: 1500, status: "ok", exitCode: 0 },
    { at: start + 2 * MINUTE, durationMs: 1500, status: "failed", exitCode: 3 },
    { at: start + 3 * MINUTE, durationMs: 1500, status: "killed", exitCode: null },
  ]);
});

Deno.test("Scheduler keeps the last 20 runs", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  for (let run = 0; run < 25; run++) {
    scene.clock.advance(MINUTE);
    scene.job.exit(run);
  }
  const codes = scene.scheduler.list()[0]!.history.map(({ exitCode }) => exitCode);
  assertEquals(codes, Array.from({ length: 20 }, (_, i) => i + 5));
});

Deno.test("Scheduler skips a run while the previous one runs", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(3 * MINUTE);
  assertEquals(scene.job.acts.length, 1);
  scene.job.exit(0);
  assertEquals(scene.statuses, ["skipped", "ok"]);
  assertEquals(scene.scheduler.list()[0]!.history[0]!.times, 2);
});

Deno.test("Scheduler ends the previous run for the next one when overlap is kill", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap: "kill" } });
  scene.clock.advance(2 * MINUTE);
  await turn();
  assertEquals(scene.job.acts, [
    "started by schedule",
    "replaced by its next run",
    "started by schedule",
  ]);
  assertEquals(scene.statuses, ["killed"]);
  assertEquals(scene.job.snapshot.state, "running");
});

Deno.test("Scheduler runs once more when overlap is queue", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap: "queue" } });
  scene.clock.advance(5 * MINUTE);
  assertEquals(scene.job.acts.length, 1);
  scene.job.exit(0);
  await turn();
  assertEquals(scene.job.acts.length, 2);
  scene.job.exit(0);
  await turn();
  assertEquals(scene.job.acts.length, 2);
  assertEquals(scene.statuses, ["ok", "ok"]);
});

Deno.test("Scheduler drops the queued run when the schedule is disabled", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap: "queue" } });
  scene.clock.advance(2 * MINUTE);
  scene.scheduler.enable(scene.processes, false);
  scene.job.exit(0);
  await turn();
  assertEquals(scene.job.acts.length, 1);
});

for (const overlap of ["queue", "kill"]) {
  Deno.test(`Scheduler performs a pending run although the daemon is replaced meanwhile: ${overlap}`, async () => {
    await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap } });
    // The stop takes some time.
    scene.job.stop = () => Promise.resolve();
    scene.clock.advance(2 * MINUTE);
    await scene.restart();
    scene.job.exit(0);
    await turn();
    assertEquals(scene.job.acts.length, 2, "it ended under the next daemon");

    scene.clock.advance(MINUTE);
    scene.scheduler.close();
    scene.job.changed = () => {};
    scene.job.exit(0);
    await scene.restart();
    await turn();
    assertEquals(scene.job.acts.length, 3, "it ended without a daemon");
    scene.job.exit(0);
    await scene.restart();
    await turn();
    assertEquals(scene.job.acts.length, 3, "nothing was to follow");
  });
}

for (const overlap of ["queue", "kill", "skip"]) {
  Deno.test(`Scheduler starts no run of a job that is being stopped: ${overlap}`, async () => {
    await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap } });
    const { job } = scene;
    // The stop takes some time.
    job.stop = () => Promise.resolve();
    scene.clock.advance(2 * MINUTE);
    job.beginStop();
    scene.clock.advance(MINUTE);
    const error = assertThrows(() => scene.scheduler.run(scene.processes), ProcsupError);
    assertEquals([error.code, error.message], ["wrong_state", '"job" is being stopped']);
    job.exit(0);
    await turn();
    scene.clock.advance(MINUTE);
    assertEquals(job.acts.length, 1, "while the stop is under way");
    job.isBeingStopped = false;
    scene.clock.advance(MINUTE);
    assertEquals(job.acts.length, 2, "the schedule continues");
  });

  Deno.test(`Scheduler starts no run when a stop outlasts the daemon: ${overlap}`, async () => {
    await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap } });
    const { job } = scene;
    job.stop = () => Promise.resolve();
    scene.clock.advance(2 * MINUTE);
    job.beginStop();
    job.isBeingStopped = false;
    await scene.restart();
    job.exit(0);
    await turn();
    assertEquals(job.acts.length, 1);
  });
}

Deno.test("Scheduler treats a user's restart as the run that was to replace the previous one", async () => {
  await using scene = await Scene.with({
    cron: { ...EVERY_MINUTE.cron, overlap: "kill", timeout: "90s" },
  });
  const { job } = scene;
  job.stop = () => Promise.resolve();
  scene.clock.advance(2 * MINUTE);
  job.startAnew();
  assertEquals(scene.statuses, ["killed"]);
  job.exit(0);
  await turn();
  assertEquals(scene.statuses, ["killed", "ok"]);
  assertEquals(job.acts.length, 1);
});

Deno.test("Scheduler begins a new run and timeout at a restart, and keeps the queued run", async () => {
  await using scene = await Scene.with({
    cron: { schedule: "0 0 1 1 *", ...UTC, overlap: "queue", timeout: "10s" },
  });
  const { job } = scene;
  scene.scheduler.run(scene.processes);
  scene.scheduler.run(scene.processes);
  scene.clock.advance(9000);
  job.startAnew();
  scene.clock.advance(9000);
  assertEquals(scene.statuses, ["killed"]);
  job.exit(0);
  await turn();
  assertEquals(scene.statuses, ["killed", "ok"]);
  assertEquals(job.acts.length, 2);
});

Deno.test("Scheduler runs each job of a target, although one of them runs already", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  for (const name of ["two", "three"]) {
    scene.processes.push(new FakeProcess(scene.clock, EVERY_MINUTE, name));
  }
  await scene.restart();
  scene.scheduler.run(scene.processes.slice(1, 2));
  const error = assertThrows(() => scene.scheduler.run(scene.processes), ProcsupError);
  assertEquals(error.message, '"two" is running already');
  assertEquals(scene.processes.map(({ acts }) => acts.length), [1, 1, 1]);
});

Deno.test("Scheduler ends a run at its timeout", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, timeout: "10s" } });
  scene.clock.advance(MINUTE + 9999);
  assertEquals(scene.job.snapshot.state, "running");
  scene.clock.advance(1);
  assertEquals(scene.job.acts.at(-1), "timed out after 10s");
  assertEquals(scene.statuses, ["timeout"]);
});

Deno.test("Scheduler records a timeout whose stop was over while no daemon was running", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, timeout: "10s" } });
  const { job } = scene;
  job.stop = () => Promise.resolve(job.beginStop());
  scene.clock.advance(MINUTE + 10_000);
  assertEquals([job.snapshot.state, scene.statuses], ["stopping", []]);
  scene.scheduler.close();
  job.changed = () => {};
  job.exit(0);
  job.isBeingStopped = false;
  await scene.restart();
  assertEquals(scene.statuses, ["timeout"]);
  scene.clock.advance(MINUTE - 10_000);
  job.exit(0);
  assertEquals(scene.statuses, ["timeout", "ok"]);
});

Deno.test("Scheduler runs nothing while a job is disabled, and does not catch up", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.scheduler.enable(scene.processes, false);
  scene.clock.advance(HOUR + 1);
  assertEquals(scene.job.acts, []);
  assertEquals(scene.scheduler.list()[0]!.nextRun, null);
  scene.scheduler.enable(scene.processes, true);
  scene.clock.advance(MINUTE - 2);
  assertEquals(scene.job.acts, []);
  scene.clock.advance(1);
  assertEquals(scene.job.acts.length, 1);
});

Deno.test("Scheduler honors a job configured as disabled", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, enabled: false } });
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts, []);
});

Deno.test("Scheduler runs nothing twice when the clock is set back by an hour", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  for (let run = 0; run < 3; run++) {
    scene.clock.advance(MINUTE);
    scene.job.exit(0);
  }
  scene.clock.jump(-HOUR);
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts.length, 3);
  scene.clock.advance(MINUTE);
  assertEquals(scene.job.acts.length, 4);
});

Deno.test("Scheduler uses the new time when the clock was a year ahead", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.job.exit(0);
  scene.clock.jump(-365 * 24 * HOUR);
  scene.clock.advance(2 * MINUTE);
  assertEquals(scene.job.acts.length, 2);
});

Deno.test("Scheduler runs at most once when the clock is set ahead", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE / 2);
  scene.clock.jump(HOUR);
  scene.clock.advance(15_000);
  assert(scene.job.acts.length <= 1, `${scene.job.acts.length} runs`);
  if (scene.job.acts.length > 0) scene.job.exit(0);
  const before = scene.job.acts.length;
  scene.clock.advance(15_000);
  assertEquals(scene.job.acts.length, before + 1);
});

Deno.test("Scheduler does not catch up on times that the clock skipped", async () => {
  await using scene = await Scene.with({ cron: { schedule: "30 12 * * *", ...UTC } });
  scene.clock.jump(HOUR);
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts, []);
});

Deno.test("Scheduler keeps history and enabled state when another daemon takes over", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.job.exit(1);
  scene.scheduler.enable(scene.processes, false);
  await scene.restart();
  const [info] = scene.scheduler.list();
  assertEquals([info!.enabled, info!.history.length], [false, 1]);
});

Deno.test("Scheduler does not repeat a run of the previous daemon", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.job.exit(0);
  scene.clock.jump(-10_000);
  await scene.restart();
  scene.clock.advance(10_000);
  assertEquals(scene.job.acts.length, 1);
  scene.clock.advance(MINUTE);
  assertEquals(scene.job.acts.length, 2);
});

Deno.test("Scheduler does not catch up on the time without a daemon", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.scheduler.close();
  scene.clock.advance(10 * MINUTE + 30_001);
  await scene.restart();
  scene.clock.advance(1);
  assertEquals(scene.job.acts, []);
});

Deno.test("Scheduler acts once at a time that was due while the daemon was replaced", async () => {
  for (const runBefore of [true, false]) {
    await using scene = await Scene.with(EVERY_MINUTE);
    if (runBefore) {
      scene.clock.advance(MINUTE);
      scene.job.exit(0);
    }
    scene.scheduler.close();
    scene.clock.advance(MINUTE + 2000);
    await scene.restart();
    scene.clock.advance(1);
    assertEquals(scene.job.acts.length, runBefore ? 2 : 1);
    scene.job.exit(0);
    await scene.restart();
    scene.clock.advance(1);
    assertEquals(scene.job.acts.length, runBefore ? 2 : 1);
  }
});

Deno.test("Scheduler does not act at a time before a schedule was added or changed", async () => {
  await using scene = await Scene.with({ cron: { schedule: "30 * * * *", ...UTC } });
  scene.clock.advance(MINUTE + 2000);
  scene.job.config = parseConfig({ name: "job", entrypoint: "x", cwd: "/", ...EVERY_MINUTE });
  scene.processes.push(new FakeProcess(scene.clock, EVERY_MINUTE, "other"));
  await scene.scheduler.sync();
  scene.clock.advance(1);
  await scene.restart();
  scene.clock.advance(1);
  assertEquals(scene.processes.map(({ acts }) => acts), [[], []]);
});

Deno.test("Scheduler begins a run whose daemon was killed before the process recorded its start", async () => {
  for (const queued of [false, true]) {
    await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap: "queue" } });
    if (queued) scene.clock.advance(2 * MINUTE);
    const { job } = scene;
    const start = job.start.bind(job);
    job.start = () => new Promise(() => {});
    if (queued) job.exit(0);
    else scene.clock.advance(MINUTE);
    await turn();
    job.start = start;
    const before = job.acts.length;
    for (const _ of [1, 2]) {
      await scene.restart();
      await turn();
    }
    assertEquals(job.acts.slice(before), ["started by schedule"]);
  }
});

Deno.test("Scheduler does not begin a run again whose daemon was killed after that", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  const { job } = scene;
  // The run is over before the next daemon comes, and the schedule did not hear of it.
  job.changed = () => {};
  scene.clock.advance(MINUTE);
  scene.clock.advance(5000);
  job.exit(7);
  await scene.restart();
  await turn();
  assertEquals(job.acts, ["started by schedule"]);
  const [run] = scene.scheduler.list()[0]!.history;
  assertEquals([run!.status, run!.exitCode, run!.durationMs], ["failed", 7, 5000]);
});

Deno.test("Scheduler takes over the previous daemon's run", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, timeout: "1m" } });
  scene.clock.advance(MINUTE);
  scene.clock.advance(20_000);
  await scene.restart();
  assert(scene.scheduler.list()[0]!.running);
  scene.clock.advance(39_999);
  assertEquals(scene.statuses, []);
  scene.clock.advance(1);
  // The next tick is at this very moment: the run is still there, or just over.
  assert(scene.statuses.includes("timeout"));
});

Deno.test("Scheduler records a run that ended while no daemon was running", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.scheduler.close();
  scene.job.changed = () => {};
  scene.clock.advance(5000);
  scene.job.exit(7);
  await scene.restart();
  const [run] = scene.scheduler.list()[0]!.history;
  assertEquals([run!.status, run!.exitCode, run!.durationMs], ["failed", 7, 5000]);
});

Deno.test("Scheduler sets an unreadable file aside and continues", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  Deno.mkdirSync(`${scene.home.path}/cron`, { recursive: true });
  Deno.writeTextFileSync(`${scene.home.path}/cron/${scene.job.id}.json`, "{half");
  await scene.restart();
  assertEquals(scene.warnings.length, 1);
  scene.clock.advance(MINUTE);
  assertEquals(scene.job.acts.length, 1);
});

Deno.test("Scheduler restarts a process that is desired up, and leaves a stopped one alone", async () => {
  await using scene = await Scene.with({ cron_restart: { schedule: "0 * * * *", ...UTC } });
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts, []);
  scene.job.up();
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts, ["restarted by schedule"]);
  while (scene.scheduler.list()[0]!.running) await turn();
  assertEquals(scene.statuses, ["ok"]);
});

Deno.test("Scheduler runs a job on request, and rejects a concurrent request", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  assertEquals(scene.scheduler.run(scene.processes), "running");
  assertEquals(scene.job.acts, ["started by cron run"]);
  const error = assertThrows(() => scene.scheduler.run(scene.processes), ProcsupError);
  assertEquals([error.code, error.message], ["wrong_state", '"job" is running already']);
});

Deno.test("Scheduler queues a requested run when overlap is queue", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, overlap: "queue" } });
  assertEquals(scene.scheduler.run(scene.processes), "running");
  assertEquals(scene.scheduler.run(scene.processes), "queued");
});

Deno.test("Scheduler names a process without a schedule", async () => {
  await using scene = await Scene.with({});
  for (const act of [() => scene.scheduler.run(scene.processes)]) {
    assertEquals(assertThrows(act, ProcsupError).message, 'No schedule: "job"');
  }
  assertEquals(scene.clock.pending, 0);
});

Deno.test("Scheduler.check() rejects an invalid schedule", async () => {
  await using scene = await Scene.with({});
  const config = (cron: unknown) => parseConfig({ name: "x", entrypoint: "x", cwd: "/", ...cron! });
  const bad = [{ cron: "0 0 31 2 *" }, { cron_restart: { schedule: "@daily", timezone: "X/Y" } }];
  for (const cron of bad) {
    const error = await assertRejects(() => scene.scheduler.check(config(cron)), ProcsupError);
    assertEquals(error.code, "invalid_config");
  }
});

Deno.test("Scheduler.sync() drops a removed process, and applies a changed schedule", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(MINUTE);
  scene.job.exit(0);
  scene.processes[0] = new FakeProcess(scene.clock, { cron: { schedule: "0 * * * *", ...UTC } });
  await scene.scheduler.sync();
  assertEquals(scene.scheduler.list()[0]!.history.length, 1);
  scene.clock.advance(30 * MINUTE);
  assertEquals(scene.job.acts, []);
  scene.processes.pop();
  await scene.scheduler.sync();
  assertEquals([...Deno.readDirSync(`${scene.home.path}/cron`)], []);
});

for (const begun of [false, true]) {
  const when = begun ? "after it began it" : "before it asked for it";
  Deno.test(`Scheduler completes a restart whose daemon was killed ${when}`, async () => {
    await using scene = await Scene.with({ cron_restart: { schedule: "0 * * * *", ...UTC } });
    const run = { runId: "run" } as Snapshot["run"];
    const startedAt = scene.clock.now();
    scene.job.snapshot = { ...NEW, state: "running", desired: "up", run, startedAt };
    scene.job.restart = ({ reason = "" } = {}) => {
      scene.job.acts.push(reason);
      return new Promise(() => {});
    };
    scene.clock.advance(HOUR);
    assertEquals(scene.job.acts.length, 1);
    if (begun) scene.job.snapshot = { ...scene.job.snapshot, startedAt: startedAt + HOUR + 1 };
    await scene.restart();
    assertEquals(scene.job.acts.length, begun ? 1 : 2);
  });
}

Deno.test("Scheduler begins a restart only once if the schedule changes during it", async () => {
  await using scene = await Scene.with({ cron_restart: { schedule: "0 * * * *", ...UTC } });
  const run = { runId: "run" } as Snapshot["run"];
  scene.job.snapshot = { ...NEW, state: "running", desired: "up", run, startedAt: 0 };
  const restarted = Promise.withResolvers<void>();
  scene.job.restart = ({ reason = "" } = {}) => {
    scene.job.acts.push(reason);
    return restarted.promise;
  };
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts, ["restarted by schedule"]);
  scene.job.config = parseConfig({
    ...{ name: "job", entrypoint: "x", cwd: "/" },
    cron_restart: { schedule: "30 * * * *", ...UTC },
  });
  await scene.scheduler.sync();
  assertEquals(scene.job.acts, ["restarted by schedule"]);
  assert(scene.scheduler.list()[0]!.running);
  restarted.resolve();
  while (scene.scheduler.list()[0]!.running) await turn();
  assertEquals(scene.statuses, ["ok"]);
  await scene.restart();
  assertEquals([scene.job.acts.length, scene.statuses], [1, ["ok"]]);
});

Deno.test("a scheduler that is closed while it loads its schedules begins none", async () => {
  await using scene = await Scene.with({ cron: { schedule: "@hourly", timeout: "1m" } });
  scene.scheduler.close();
  scene.job.changed = () => {};
  scene.job.up();
  const next = new Scheduler({
    clock: scene.clock,
    folder: scene.home.path,
    list: () => scene.processes,
    writes: new RetriedWrites(scene.clock, () => {}),
    warn: () => {},
    overdue: () => {},
  });
  const timers = scene.clock.pending;
  const syncing = next.sync();
  next.close();
  await syncing;
  assertEquals([next.list(), scene.clock.pending], [[], timers]);
});

Deno.test("cron stop all is carried out for every job, although the daemon is killed after the first", async () => {
  await using scene = new Scene();
  const cron = "0 * * * *";
  for (const name of ["a", "b"]) {
    scene.processes.push(new FakeProcess(scene.clock, { cron }, name));
  }
  await scene.restart();
  const now = scene.clock.now.bind(scene.clock);
  let looks = 0;
  scene.clock.now = () => {
    if (++looks > 1) throw new Error("killed");
    return now();
  };
  assertThrows(() => scene.scheduler.enable(scene.processes, false), Error, "killed");
  scene.clock.now = now;
  const enabled = () => scene.scheduler.list().map(({ enabled }) => enabled);
  await scene.restart();
  assertEquals(enabled(), [false, false]);
  // It is done: it does not undo what comes later.
  scene.scheduler.enable(scene.processes, true);
  await scene.restart();
  assertEquals(enabled(), [true, true]);
});

Deno.test("cron stop all is still carried out after a daemon that ended while it began", async () => {
  await using scene = new Scene();
  scene.processes.push(new FakeProcess(scene.clock, { cron: "0 * * * *" }));
  await scene.restart();
  const now = scene.clock.now.bind(scene.clock);
  scene.clock.now = () => {
    throw new Error("killed");
  };
  assertThrows(() => scene.scheduler.enable(scene.processes, false), Error, "killed");
  scene.clock.now = now;
  const beginning = scene.restart();
  scene.scheduler.close();
  await beginning;
  await scene.restart();
  assertEquals(scene.scheduler.list().map(({ enabled }) => enabled), [false]);
});

Deno.test("Scheduler makes up once for the runs that it missed, and only if told", async () => {
  for (const [catch_up, runs] of [["once", 1], ["none", 0]] as const) {
    await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, catch_up } });
    scene.scheduler.close();
    // Between two due times, after the machine slept.
    scene.clock.jump(HOUR + MINUTE / 2 + 5000);
    await scene.restart();
    scene.clock.advance(0);
    assertEquals(scene.job.acts.length, runs, catch_up);
    if (runs > 0) scene.job.exit(0);
    scene.clock.advance(MINUTE);
    assertEquals(scene.job.acts.length, runs + 1, catch_up);
  }
});

Deno.test("Scheduler makes up for a run while one daemon lives: the machine slept", async () => {
  await using scene = await Scene.with({
    cron: { schedule: "30 12 * * *", ...UTC, catch_up: "once" },
  });
  scene.clock.jump(2 * 24 * HOUR);
  scene.clock.advance(10_000);
  assertEquals([scene.job.acts.length, scene.overdue], [1, []]);
});

Deno.test("Scheduler tells once of a missed run, also after a killed daemon, until one begins", async () => {
  await using scene = await Scene.with({ cron: { schedule: "30 12 * * *", ...UTC } });
  scene.clock.jump(2 * HOUR);
  scene.clock.advance(10_000);
  const since = () => scene.scheduler.list()[0]!.overdueSince?.toISOString();
  assertEquals(scene.overdue, ["due 1h30m10s ago: no daemon acted at that time"]);
  await scene.restart();
  assertEquals([scene.overdue.length, since()], [1, "2026-01-01T12:30:00.000Z"]);
  scene.scheduler.run(scene.processes);
  assertEquals(since(), undefined);
  scene.job.exit(0);
});

Deno.test("Scheduler tells of a run that is not over at two due times in a row", async () => {
  await using scene = await Scene.with(EVERY_MINUTE);
  scene.clock.advance(2 * MINUTE);
  assertEquals(scene.overdue, [], "a run may take longer than to the next one");
  scene.clock.advance(MINUTE);
  assertEquals(scene.overdue, ["due 1m ago: the last run is not over"]);
  await scene.restart();
  scene.clock.advance(5 * MINUTE);
  assertEquals(scene.overdue.length, 1);
  scene.job.exit(0);
});

Deno.test("Scheduler tells of nothing that a disabled schedule missed", async () => {
  await using scene = await Scene.with({ cron: { ...EVERY_MINUTE.cron, enabled: false } });
  scene.clock.jump(HOUR);
  await scene.restart();
  scene.clock.advance(MINUTE);
  assertEquals(scene.overdue, []);
});

Deno.test("Scheduler counts an interval from when the process was added, under every daemon", async () => {
  await using scene = await Scene.with({ cron: { every: "90s" } });
  scene.clock.advance(90_000 - 1);
  assertEquals(scene.job.acts, []);
  scene.clock.advance(1);
  scene.job.exit(0);
  scene.clock.advance(30_000);
  await scene.restart();
  scene.clock.advance(60_000);
  assertEquals(scene.job.acts.length, 2);
  scene.job.exit(0);
  // The clock is set back: the wait is one interval at most.
  scene.clock.jump(-HOUR);
  scene.clock.advance(90_000 + 10_000);
  assertEquals(scene.job.acts.length, 3);
  scene.job.exit(0);
});

Deno.test("Scheduler delays a run by the same random time under every daemon", async () => {
  await using scene = await Scene.with({ cron: { every: "10m", random_delay: "5m" } });
  const { nextRun } = scene.scheduler.list()[0]!;
  await scene.restart();
  assertEquals(scene.scheduler.list()[0]!.nextRun, nextRun);
  const delay = nextRun!.getTime() - scene.clock.now() - 10 * MINUTE;
  assert(delay >= 0 && delay < 5 * MINUTE, `${delay}`);
  scene.clock.advance(HOUR);
  assertEquals(scene.job.acts.length, 1);
  scene.job.exit(0);
});
