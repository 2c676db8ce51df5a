/** Scans of the machine, with processes that are hard to find. */

import { assert, assertEquals } from "@std/assert";
import { runIdOf } from "../../src/platform/scan/process_environment.ts";
import { processesByRunId, scanProcesses } from "../../src/platform/scan/process_scan.ts";
import { childrenOf, isThread, processRow, statOf } from "../../src/platform/scan/process_table.ts";
import { waitFor } from "../support/wait_for.ts";

const ignore = Deno.build.os !== "linux";
const SCANS = 40;

/** Runs a shell script with its own run id, and terminates everything it started. */
class Marked implements AsyncDisposable {
  readonly runId = crypto.randomUUID();
  readonly process: Deno.ChildProcess;

  constructor(args: readonly string[], env: Record<string, string> = {}, program = "/bin/sh") {
    const marked = { ...env, PROCSUP_RUN_ID: this.runId };
    this.process = new Deno.Command(program, { args: [...args], env: marked, detached: true })
      .spawn();
  }

  async isFound(): Promise<boolean> {
    return (await processesByRunId()).has(this.runId);
  }

  /** The number of scans, out of some, that do not find it. */
  async missed(): Promise<number> {
    await waitFor(() => this.isFound());
    let missed = 0;
    for (let scan = 0; scan < SCANS; scan++) if (!await this.isFound()) missed++;
    return missed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    Deno.kill(-this.process.pid, "SIGKILL");
    await this.process.status;
  }
}

Deno.test({
  name: "processesByRunId() finds a process that keeps calling exec",
  ignore,
  async fn() {
    const again = ["-c", 'exec /bin/sh -c "$0" "$0"', 'exec /bin/sh -c "$0" "$0"'];
    await using app = new Marked(again);
    assertEquals(await app.missed(), 0);
  },
});

Deno.test({
  name: "scanProcesses() skips the environment of a process that is older than the runs",
  ignore,
  async fn() {
    await using app = new Marked(["100000"], {}, "/bin/sleep");
    await waitFor(() => app.isFound());
    const start = Number(processRow(app.process.pid)!.start);
    const found = async (since: number) => (await scanProcesses({ since })).byRunId.has(app.runId);
    assertEquals([await found(start), await found(start + 1)], [true, false]);
  },
});

Deno.test({
  name: "processesByRunId() finds a chain of processes in which each forks the next and exits",
  ignore,
  async fn() {
    // The first one keeps the group alive, by which the others are terminated.
    const link = 'sleep 0.002; /bin/sh -c "$0" "$0" & exit';
    await using app = new Marked(["-c", '/bin/sh -c "$0" "$0" & exec env -i sleep 1000', link]);
    assertEquals(await app.missed(), 0);
  },
});

Deno.test({
  name: "runIdOf() reads no more than 256 KiB of an environment",
  ignore,
  async fn() {
    const filler = (letter: string) =>
      Object.fromEntries(Array.from({ length: 3 }, (_, i) => [letter + i, "x".repeat(100_000)]));
    // The environment is sorted by name.
    await using small = new Marked(["-c", "sleep 1000"], filler("Z"));
    await using large = new Marked(["-c", "sleep 1000"], filler("A"));
    await waitFor(() => runIdOf(small.process.pid) === small.runId);
    await waitFor(() => Deno.readFileSync(`/proc/${large.process.pid}/environ`).length > 300_000);
    assertEquals(runIdOf(large.process.pid), undefined);
  },
});

Deno.test({
  name: "a process whose main thread has ended is alive, and its environment is readable",
  ignore,
  async fn() {
    const exit = Deno.build.arch === "x86_64" ? 60 : 93;
    // Unlike the library function, the system call ends only the thread.
    const program =
      `Deno.dlopen("libc.so.6", { syscall: { parameters: ["i64", "i64"], result: "i64" } })
        .symbols.syscall(${exit}n, 0n)`;
    await using app = new Marked(["eval", program], {}, Deno.execPath());
    const { pid } = app.process;
    await waitFor(() => / Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`)));
    assertEquals(processRow(pid)?.zombie, false);
    assert(processRow(pid)!.rssBytes > 0);
    assertEquals(runIdOf(pid), app.runId);
  },
});

Deno.test({
  name: "isThread() distinguishes other threads from the main one",
  ignore,
  fn() {
    const threads = Array.from(Deno.readDirSync("/proc/self/task"), ({ name }) => Number(name));
    assert(threads.length > 1);
    assertEquals(threads.filter((thread) => !isThread(statOf(thread)!)), [Deno.pid]);
  },
});

Deno.test({
  name: "childrenOf() lists direct children only",
  ignore,
  async fn() {
    await using app = new Marked(["-c", "sleep 1000 & sh -c 'sleep 1000; :' & wait"]);
    const { pid } = app.process;
    await waitFor(() => childrenOf(pid).length === 2 && childrenOf(pid).flatMap(childrenOf).length);
    for (const child of childrenOf(pid)) assertEquals(processRow(child)?.ppid, pid);
  },
});
