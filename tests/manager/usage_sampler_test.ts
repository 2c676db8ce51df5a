import { assert } from "@std/assert";
import { UsageSampler } from "../../src/manager/usage_sampler.ts";
import { processTable } from "../../src/platform/scan/process_table.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { waitFor } from "../support/wait_for.ts";

/** As if it had been supervised for eleven days. */
function process(wrapperPid: number): ManagedProcess {
  return { snapshot: { run: { wrapperPid } }, run: { uptimeMs: 1e9 } } as unknown as ManagedProcess;
}

function tree(script: string): Deno.ChildProcess {
  const args = ["-c", `(${script}) & wait`];
  return new Deno.Command("/bin/sh", { args, detached: true, stdout: "null" }).spawn();
}

Deno.test("UsageSampler measures since the last reading of a process, whatever other readings there were", async () => {
  const children = [tree("while :; do :; done"), tree("sleep 1000")];
  const [busy, other] = children.map(({ pid }) => process(pid)) as [ManagedProcess, ManagedProcess];
  let steady = 1e9;
  const sampler = new UsageSampler({ now: () => 0, steady: () => steady, after: () => () => {} });
  const cpuMs = () =>
    processTable().filter(({ pgid }) => pgid === children[0]!.pid)
      .reduce((sum, row) => sum + row.cpuMs, 0);
  try {
    await waitFor(() => processTable().filter(({ ppid }) => ppid === children[0]!.pid).length > 0);
    sampler.sample([busy, other]);
    const before = cpuMs();
    await waitFor(() => cpuMs() >= before + 200);
    steady += 1000;
    sampler.sample([other]);
    steady += 1000;
    const { cpuPercent } = sampler.sample([busy, other])(busy);
    assert(cpuPercent >= 5, `${cpuPercent} %, which is since its start`);
  } finally {
    for (const child of children) {
      Deno.kill(-child.pid, "SIGKILL");
      await child.status;
    }
  }
});
