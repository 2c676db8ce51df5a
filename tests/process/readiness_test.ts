/** When a run counts as ready: a file, a line of its output, or a delay. */

import { assertEquals } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

/** A process that was launched but is not ready yet. */
async function launched(config: Record<string, unknown>): Promise<LoneProcess> {
  const lone = new LoneProcess(config);
  lone.process.start().catch(() => {});
  await waitFor(() => lone.world.children.length === 1, { what: "the launch" });
  return lone;
}

function write(lone: LoneProcess, log: "stdout" | "stderr", text: string): void {
  const path = lone.world.child.spec![log];
  Deno.writeTextFileSync(path, text, { append: true });
}

Deno.test("wait_ready waits for the file that PROCSUP_READY_FILE names", async () => {
  await using lone = await launched({ wait_ready: true });
  const { spec, run } = lone.world.child;
  assertEquals(spec!.env.PROCSUP_READY_FILE, lone.world.readyFile(run.runId));
  assertEquals(lone.state, "starting");
  lone.world.sayReady();
  assertEquals([lone.state, lone.process.info().ready], ["running", true]);
  assertEquals(lone.world.clock.pending, 0);
});

Deno.test("PROCSUP_READY_FILE is set only for an app with wait_ready", async () => {
  for (
    const config of [{}, { ready_log: "x" }, { ready_delay: "1s" }, {
      wait_ready: true,
      health_check: { type: "command", command: "true" },
    }]
  ) {
    await using lone = await launched(config);
    assertEquals(lone.world.child.spec!.env.PROCSUP_READY_FILE, undefined);
    await lone.process.stop();
  }
});

Deno.test("ready_delay: ready after running for that long", async () => {
  await using lone = await launched({ ready_delay: "5s", listen_timeout: "1s" });
  lone.world.clock.advance(4999);
  assertEquals(lone.state, "starting", "listen_timeout is about answers, and none is awaited");
  lone.world.clock.advance(1);
  assertEquals(lone.state, "running");
});

Deno.test("ready_delay: an exit during the delay is an exit before readiness", async () => {
  await using lone = await launched({ ready_delay: "5s", restart_policy: "never" });
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "crashed");
  assertEquals(lone.world.clock.pending, 0);
});

for (const log of ["stdout", "stderr"] as const) {
  Deno.test(`ready_log: ready when a line of ${log} matches`, async () => {
    await using lone = await launched({ ready_log: "^listening on \\d+$" });
    write(lone, log, "not listening on 80\nlistening on ");
    write(lone, log, "8080\n");
    await waitFor(() => lone.state === "running", { what: "readiness" });
    assertEquals(lone.world.clock.pending, 0);
  });
}

Deno.test("ready_log: only output of this run counts", async () => {
  await using lone = await launched({ ready_log: "ready", restart_delay: "1s" });
  write(lone, "stdout", "ready\n");
  await waitFor(() => lone.state === "running", { what: "readiness" });
  lone.world.child.exit(1);
  await waitFor(() => lone.state === "waiting");
  lone.world.clock.advance(1000);
  await waitFor(() => lone.world.children.length === 2, { what: "the second launch" });
  write(lone, "stdout", "not yet\n");
  write(lone, "stderr", "READY\n");
  assertEquals(lone.state, "starting");
  write(lone, "stdout", "ready\n");
  await waitFor(() => lone.state === "running", { what: "readiness" });
  assertEquals(lone.world.children.length, 2);
});

Deno.test("ready_log: a timeout when no line matches", async () => {
  await using lone = await launched({ ready_log: "ready", listen_timeout: "2s" });
  write(lone, "stdout", "still loading\n");
  lone.world.clock.advance(2000);
  await waitFor(() => lone.state === "waiting", { what: "the timeout" });
  assertEquals(
    lone.process.snapshot.lastReason,
    'not ready within 2s: waited for a line of output that matches "ready"',
  );
});
