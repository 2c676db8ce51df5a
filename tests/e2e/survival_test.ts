/** Killing the daemon costs nothing. */

import { fromFileUrl } from "@std/path";
import { parseRecordLines, type ProcessRecord, recordText } from "../../src/manager/records.ts";
import { assert, assertEquals } from "@std/assert";
import { sleep } from "../../src/platform/clock.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { seeded } from "../support/seeded.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const WRITER = fromFileUrl(import.meta.resolve("../fixtures/numbered_writer.sh"));
const WRITERS = 50;
const LINES = 3000;
const KILLS = 20;

Deno.test("daemon loses no line, pid or count when it is killed 20 times under 50 writers", async () => {
  await daemon.client.call("start", {
    name: "writer",
    entrypoint: WRITER,
    cwd: "/",
    env: { COUNT: String(LINES) },
    instances: WRITERS,
  });
  const before = await daemon.client.call("list");
  const random = seeded();
  for (let kill = 0; kill < KILLS; kill++) {
    // The moment does not matter, even right after the start.
    await sleep(random() * 200);
    await daemon.kill();
    await daemon.run();
  }
  const after = await daemon.client.call("list");
  assertEquals(after.map(identity), before.map(identity));
  const logs = after.map(({ name }) => `${daemon.home}/apps/${name}/stdout.log`);
  await waitFor(() => logs.every((log) => lastLine(log) === String(LINES)), {
    what: "every writer to have written its last line",
  });
  const expected = Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join("");
  for (const log of logs) assert(Deno.readTextFileSync(log) === expected, `${log} is not whole`);
});

function identity({ id, numeric_id, name, pid, restarts, state, created_at }: ProcessJson) {
  return { id, numeric_id, name, pid, restarts, state, created_at };
}

function lastLine(path: string): string | undefined {
  return Deno.readTextFileSync(path).trimEnd().split("\n").at(-1);
}

Deno.test("daemon knows exit codes and signals of apps that exited while it was dead", async () => {
  const gate = `${daemon.home}/gate`;
  const wait = `while [ ! -e ${gate} ]; do sleep 0.05; done`;
  const slow = { restart_delay: "30s" };
  await daemon.startScript("fails", `${wait}; exit 42`, slow);
  await daemon.startScript("faults", `${wait}; kill -SEGV $$`, slow);
  await daemon.startScript("done", `${wait}; exit 0`, slow);
  await daemon.startScript("left", `${wait}; exit 7`, { restart_policy: "never" });
  const pids = (await daemon.client.call("list")).map(({ pid }) => pid);
  await daemon.kill();
  await Deno.writeTextFile(gate, "");
  await waitFor(() => pids.every((pid) => !isAlive(pid)), { what: "the apps to end" });
  await daemon.run();

  const [fails, faults, done, left] = await daemon.client.call("list");
  assertEquals([fails!.state, fails!.last_exit?.code, fails!.restarts], ["waiting", 42, 0]);
  assertEquals([faults!.state, faults!.last_exit?.signal], ["waiting", "SIGSEGV"]);
  assertEquals([done!.state, done!.last_exit?.code], ["stopped", 0]);
  assertEquals([left!.state, left!.last_exit?.code], ["crashed", 7]);
});

Deno.test("daemon applies the restart policy once when it is killed twice around one crash", async () => {
  const runs = `${daemon.home}/runs`;
  await daemon.startScript("once", `echo run >>${runs}; sleep 0.3; exit 1`, {
    max_restarts: 1,
    restart_delay: "10ms",
  });
  await daemon.kill();
  await waitFor(async () => (await ended(daemon.home)).length > 0, {
    what: "the exit to be recorded",
  });
  await daemon.run();
  await daemon.kill();
  await daemon.run();
  await waitFor(async () => (await daemon.status("once")).state === "errored", { what: "errored" });
  assertEquals((await daemon.status("once")).restarts, 1);
  assertEquals(Deno.readTextFileSync(runs), "run\nrun\n");
});

async function ended(home: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(`${home}/run`), ({ name }) => name);
  return names.filter((name) => name.endsWith(".exit"));
}

Deno.test("daemon restarts an adopted app that crashes", async () => {
  const { pid } = await daemon.startScript("app", "exec sleep 1000");
  await daemon.kill();
  await daemon.run();
  Deno.kill(pid, "SIGKILL");
  await waitFor(async () => {
    const now = await daemon.status("app");
    return now.state === "running" && now.pid !== pid;
  }, { what: "a new pid" });
  const now = await daemon.status("app");
  assertEquals([now.restarts, now.last_exit?.signal], [1, "SIGKILL"]);
});

Deno.test("daemon leaves apps running on SIGTERM, and the next one adopts them", async () => {
  const { pid } = await daemon.startScript("app", "exec sleep 1000");
  assertEquals(await daemon.terminate(), 0);
  assert(isAlive(pid));
  await daemon.run();
  assertEquals((await daemon.status("app")).pid, pid);
});

Deno.test("daemon does not start an app twice when it was killed right before recording the launch", async () => {
  const { pid, id } = await daemon.startScript("app", "exec sleep 1000");
  await daemon.kill();
  // The record of a daemon that dies between a launch and its record.
  const path = daemon.recordOf(id);
  const record = parseRecordLines([await Deno.readTextFile(path)]).record as ProcessRecord;
  const run = { ...record.snapshot.run!, wrapperPid: 0, wrapperStart: "" };
  const snapshot = { ...record.snapshot, state: "starting", pid: 0, run } as const;
  await Deno.writeTextFile(path, recordText({ ...record, snapshot }));
  await daemon.run();
  const now = await daemon.status("app");
  assertEquals([now.state, now.pid, now.restarts], ["running", pid, 0]);
  await daemon.client.call("stop", { target: "app" });
  assert(!isAlive(pid));
});

Deno.test("daemon never signals an unrelated process that got the pid of an exited app", {
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
}, async () => {
  const scene = fromFileUrl(import.meta.resolve("../fixtures/pid_taken.ts"));
  // The shell is the first process there, and adopts orphans.
  const inside = [
    "sh",
    "-c",
    '"$@"; exit $?',
    "sh",
    Deno.execPath(),
    "run",
    "-A",
    "--no-check",
    scene,
  ];
  const { success, stderr } = await new Deno.Command("unshare", {
    args: ["--pid", "--fork", "--kill-child", "--mount-proc", ...inside],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

/** Leaves a group member that ignores SIGTERM, and reports if one already exists. */
const LEAVES =
  `if grep -qs "^State:.[^Z]" "/proc/$(cat left)/status"; then echo two >>doubles; fi; rm -f left; ` +
  `sh -c 'trap "" TERM; echo $$ >left; exec sleep 1000' & while [ ! -s left ]; do sleep 0.1; done; `;

function leftBy(daemon: TestDaemon): number {
  return Number(Deno.readTextFileSync(`${daemon.home}/left`));
}

Deno.test("daemon terminates an app's leftovers when the previous daemon was killed while doing so", async () => {
  await daemon.startScript("app", `${LEAVES} exit 3`, {
    ...{ cwd: daemon.home, restart_policy: "never", stop_timeout: "1s" },
  });
  await waitFor(async () => (await daemon.status("app")).state === "crashed", {
    what: "the crash",
  });
  await daemon.kill();
  assert(isAlive(leftBy(daemon)));
  await daemon.run();
  await daemon.client.call("stop", { target: "app", timeout: "100ms" });
  assert(!isAlive(leftBy(daemon)), "the stop was answered before all was gone");
  assertEquals((await daemon.status("app")).last_exit?.code, 3);
});

Deno.test("daemon starts nothing beside leftovers of a run when it was killed during a restart", async () => {
  const { pid } = await daemon.startScript(
    "app",
    `${LEAVES} trap 'exit 0' TERM; while :; do sleep 1000 & wait; done`,
    { cwd: daemon.home, stop_timeout: "1s" },
  );
  await waitFor(() => leftBy(daemon) > 0, { what: "the member" });
  const left = leftBy(daemon);
  const restart = daemon.client.call("restart", "app").catch(() => {});
  await waitFor(() => !isAlive(pid), { what: "the app to end" });
  await daemon.kill();
  await restart;
  assert(isAlive(left));
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).pid > 0, { what: "the next run" });
  assert(!isAlive(left));
  assertEquals(await Deno.stat(`${daemon.home}/doubles`).catch(() => "none"), "none");
});

Deno.test("daemon starts dependencies first after a reboot, whatever their numeric ids", async () => {
  const first = await daemon.startScript("first", "exec sleep 1000");
  const second = await daemon.startScript("second", "exec sleep 1000", {
    ...{ ready_delay: "300ms", wait: true },
  });
  await daemon.client.call("reconfigure", {
    ...{ target: "first", config: { depends_on: ["second"] } },
  });
  await daemon.kill();
  for (const { id } of [first, second]) {
    const path = daemon.recordOf(id);
    const record = parseRecordLines([await Deno.readTextFile(path)]).record as ProcessRecord;
    const run = record.snapshot.run!;
    Deno.kill(-run.wrapperPid, "SIGKILL");
    const snapshot = { ...record.snapshot, run: { ...run, bootId: "earlier" } };
    await Deno.writeTextFile(path, recordText({ ...record, snapshot }));
  }
  await daemon.run();
  const started: number[] = [];
  await waitFor(async () => {
    const list = await daemon.client.call("list");
    started.splice(0, 2, ...list.map(({ started_at }) => Date.parse(started_at ?? "")));
    return list.every(({ state, pid }) => state === "running" && pid > 0);
  }, { what: "both to run" });
  assert(started[0]! - started[1]! >= 290, `${started[0]! - started[1]!} ms after the other`);
});

Deno.test("daemon runs a pre_start hook again after terminating the previous daemon's", async () => {
  const hook = "[ -e go ] || { echo $$ >hooked; sleep 1000; }";
  const config = { cwd: daemon.home, hooks: { pre_start: hook } };
  const start = daemon.startScript("app", "exec sleep 1000", config).catch(() => {});
  const hookPid = () => Number(Deno.readTextFileSync(`${daemon.home}/hooked`));
  await waitFor(() => hookPid() > 0, { what: "the hook" });
  await daemon.kill();
  await start;
  const pid = hookPid();
  assert(isAlive(pid));
  await Deno.writeTextFile(`${daemon.home}/go`, "");
  await daemon.run();
  await waitFor(async () => (await daemon.status("app")).pid > 0, { what: "the app to run" });
  assert(!isAlive(pid), "the hook of the earlier daemon keeps running");
});
