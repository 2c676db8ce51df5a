/** Programs in their own session, also at the moment before they have it. */

import { assert, assertEquals } from "@std/assert";
import { orphanOf } from "../../src/manager/recovery.ts";
import { sleep } from "../../src/platform/clock.ts";
import { bootId } from "../../src/platform/os.ts";
import {
  killOwnSession,
  spawnInOwnSession,
  willLead,
} from "../../src/platform/launch/child_process.ts";
import { terminateRun } from "../../src/platform/scan/process_group.ts";
import { RunMembers } from "../../src/platform/scan/run_members.ts";
import { ProcessScan } from "../../src/platform/scan/process_scan.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const TERM = { signal: "SIGTERM", mode: "group", main: 0 } as const;

const ignore = Deno.build.os !== "linux";

/** A program that is held back before its session begins: it waits for a library to be written. */
class Held implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly #library = `${this.#temp.path}/library`;
  readonly runId = crypto.randomUUID();
  readonly child: Deno.ChildProcess;
  readonly pid: number;

  constructor() {
    new Deno.Command("mkfifo", { args: [this.#library] }).outputSync();
    const env = { LD_PRELOAD: this.#library, PROCSUP_RUN_ID: this.runId };
    this.child = spawnInOwnSession("/bin/sleep", { args: ["1000"], env, stderr: "null" });
    this.pid = this.child.pid;
  }

  get row() {
    return processRow(this.pid)!;
  }

  get run() {
    return {
      runId: this.runId,
      wrapperPid: this.pid,
      wrapperStart: this.row.start,
      bootId: bootId(),
    };
  }

  async goOn(): Promise<void> {
    using _writer = await Deno.open(this.#library, { write: true });
    Deno.removeSync(this.#library);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    killOwnSession(this.pid);
    await this.child.status;
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test("spawnInOwnSession() starts a leader under the pid that it returns", async () => {
  const child = spawnInOwnSession("/bin/sh", { args: ["-c", "sleep 1000 & wait"] });
  const own = () => {
    const { pid, pgid, sid } = processRow(child.pid)!;
    return pid === pgid && pid === sid;
  };
  await waitFor(own, { what: "the session" });
  killOwnSession(child.pid);
  assertEquals((await child.status).signal, "SIGKILL");
});

Deno.test("willLead() is true until the session has begun", { ignore }, async () => {
  await using held = new Held();
  await waitFor(() => willLead(held.row), { what: "the arguments to be readable" });
  const before = held.row;
  assert(before.pgid !== held.pid);
  await held.goOn();
  await waitFor(() => held.row.pgid === held.pid, { what: "the session" });
  // A row may be older than the session.
  assertEquals([willLead(held.row), willLead(before)], [false, true]);
});

Deno.test("killOwnSession() kills a program whose session has not begun", { ignore }, async () => {
  await using held = new Held();
  killOwnSession(held.pid);
  assertEquals((await held.child.status).signal, "SIGKILL");
});

Deno.test("terminateRun() waits for the session of a new wrapper", { ignore }, async () => {
  await using held = new Held();
  const deadline = performance.now() + 60_000;
  const ended = terminateRun(held.run, TERM, () => deadline);
  await sleep(100);
  await held.goOn();
  assertEquals(await ended, { killed: false, left: [] });
  assertEquals((await held.child.status).signal, "SIGTERM");
});

Deno.test("terminateRun() kills a wrapper whose session never begins", { ignore }, async () => {
  await using held = new Held();
  const deadline = performance.now() + 100;
  const { killed, left } = await terminateRun(held.run, TERM, () => deadline);
  assertEquals([killed, left], [true, []]);
  await held.child.status;
});

Deno.test(
  "a run does not own the group that its new wrapper is about to leave",
  { ignore },
  async () => {
    await using held = new Held();
    await waitFor(() => willLead(held.row), { what: "the arguments to be readable" });
    const unknown = { ...held.run, wrapperPid: 0, wrapperStart: "" };
    // Both are in this test's own group, whose leader the scan does not show.
    const scan = new ProcessScan();
    const stranger = { ...held.row, pid: 2 ** 22 + 1 };
    scan.add({ pid: held.pid, row: held.row, runId: held.runId });
    scan.add({ pid: stranger.pid, row: stranger });
    for (const run of [unknown, held.run]) {
      assertEquals(new RunMembers(run).find(scan), [held.pid]);
    }
    assertEquals(orphanOf(unknown, [held.pid], bootId())!.wrapperPid, held.pid);
  },
);
