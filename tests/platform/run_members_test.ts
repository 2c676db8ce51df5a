/** Which processes belong to a run. */

import { assertEquals } from "@std/assert";
import { bootId } from "../../src/platform/os.ts";
import { terminateRun } from "../../src/platform/scan/process_group.ts";
import { RunMembers } from "../../src/platform/scan/run_members.ts";
import { processesByRunId, ProcessScan } from "../../src/platform/scan/process_scan.ts";
import { type ProcessRow, processRow } from "../../src/platform/scan/process_table.ts";
import { isAlive } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const TERM = { signal: "SIGTERM", mode: "group", main: 0 } as const;

const RUN = { runId: "run", wrapperPid: 100, wrapperStart: "1", bootId: "boot" };

/** A process, in its own session and group by default. */
function row(pid: number, more: Partial<ProcessRow> & { runId?: string } = {}) {
  const { runId, ...rest } = more;
  const usage = { cpuMs: 0, rssBytes: 0, threads: 1 };
  const base = { pid, ppid: 1, pgid: pid, sid: pid, start: "1", zombie: false, ...usage };
  return { pid, runId, row: { ...base, ...rest } };
}

function members(processes: readonly ReturnType<typeof row>[], known = new RunMembers(RUN)) {
  const scan = new ProcessScan();
  for (const process of processes) scan.add(process);
  return known.find(scan).toSorted((a, b) => a - b);
}

Deno.test("RunMembers.find() finds children, and the group and session of a wrapper that has exited", () => {
  assertEquals(
    members([row(101, { pgid: 100, sid: 100 }), row(102, { sid: 100 }), row(103, { ppid: 102 })]),
    [101, 102, 103],
  );
});

Deno.test("RunMembers.find() finds a session by a member that carries the run id", () => {
  const hidden = row(201, { sid: 200 });
  assertEquals(members([row(200, { runId: "run" }), hidden]), [200, 201]);
  assertEquals(members([row(202, { sid: 200, runId: "run" }), hidden]), [201, 202]);
});

Deno.test("RunMembers.find() leaves out a session whose leader carries no run id", () => {
  const shell = row(200);
  assertEquals(members([shell, row(201, { sid: 200, runId: "run" }), row(202, { sid: 200 })]), [
    201,
  ]);
});

Deno.test("RunMembers.find() leaves out a group and session that reuse the wrapper's pid", () => {
  const later = row(100, { start: "2" });
  assertEquals(members([later, row(101, { pgid: 100, sid: 100, ppid: 100 })]), []);
});

Deno.test("RunMembers.find() leaves out group 0 and session 0, which come from outside a container", () => {
  const outside = { pgid: 0, sid: 0 };
  assertEquals(members([row(300, { ...outside, runId: "run" }), row(301, outside)]), [300]);
});

Deno.test("RunMembers.find() leaves out the group and session that a new wrapper is about to leave", () => {
  const supervisors = { pgid: 90, sid: 80 };
  assertEquals(members([row(100, supervisors), row(101, supervisors)]), [100]);
});

Deno.test("RunMembers.find() remembers members of the run after their parents exited", () => {
  const known = new RunMembers(RUN);
  const hidden = [row(201, { ppid: 200, sid: 200 }), row(202, { ppid: 201 })];
  assertEquals(members([row(200, { runId: "run" }), ...hidden], known), [200, 201, 202]);
  assertEquals(members([row(202), row(203, { sid: 200 })], known), [202, 203]);
  assertEquals(members([row(202, { start: "2" })], known), []);
});

/** Ways in which a process can hide. Each writes its pid to the file `$1`. */
const HIDING: Readonly<Record<string, string>> = {
  "in its own group": `bash -c 'set -m; env -i sleep 1000 & echo $! >"$0"' "$1"`,
  "in a session that its parent leads": `setsid sh -c '
    env -i sleep 1000 & echo $! >"$0"; wait' "$1" &`,
  "in a session whose leader has exited": `setsid sh -c '
    sleep 1000 & env -i sleep 1000 & echo $! >"$0"' "$1" &`,
  "in a session that it leads": `setsid env -i sh -c 'echo $$ >"$0"; exec sleep 1000' "$1" &`,
};

for (const [where, script] of Object.entries(HIDING)) {
  for (const grace of [0, 5000]) {
    Deno.test({
      name: `terminateRun() ends a process without environment ${where}, within ${grace} ms`,
      ignore: Deno.build.os !== "linux",
      fn: async () => {
        await using temp = tempHome();
        const file = `${temp.path}/pid`;
        // Without a launcher, because none of these is in a control group.
        const run = begin(`${script}\nexec sleep 1000`, file);
        const pid = () => Number(Deno.readTextFileSync(file));
        await waitFor(() => pid() > 0);
        const deadline = performance.now() + grace;
        const { left } = await terminateRun(run, TERM, () => deadline);
        assertEquals([left, isAlive(pid())], [[], false]);
      },
    });
  }
}

function begin(script: string, file: string) {
  const runId = crypto.randomUUID();
  const { pid, status } = new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", file],
    env: { PROCSUP_RUN_ID: runId },
    detached: true,
  }).spawn();
  void status;
  return { runId, wrapperPid: pid, wrapperStart: processRow(pid)!.start, bootId: bootId() };
}

Deno.test({
  name: "terminateRun() ignores the run id that another user's process claims",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using temp = tempHome();
    const run = begin("exec sleep 1000", temp.path);
    const setpriv = ["--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "1000"];
    // In a session of its own, because the whole group of a member is ended, too.
    const other = new Deno.Command("setpriv", {
      args: setpriv,
      env: { PROCSUP_RUN_ID: run.runId },
      detached: true,
    }).spawn();
    await waitFor(async () => (await processesByRunId()).get(run.runId)?.includes(other.pid));
    const { left } = await terminateRun(
      { ...run, user: 1 },
      TERM,
      () => performance.now() + 5000,
    );
    assertEquals([left, isAlive(other.pid)], [[], true]);
    await terminateRun({ ...run, user: 65534 }, TERM, () => performance.now() + 5000);
    assertEquals((await other.status).signal, "SIGTERM");
  },
});
