// deno-lint-ignore-file no-console
/**
 * Fills the file system of a home while a log is to be archived (needs root, for the mount): the
 * daemon reports it once, keeps running, and rotates when there is space again.
 *
 * `deno run -A scripts/faults/log_full_disk.ts`
 */

import { listArchives } from "../../src/logs/write/archives.ts";
import { LogKeeper } from "../../src/logs/keep/log_keeper.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { waitFor } from "../../tests/support/wait_for.ts";

const folder = Deno.makeTempDirSync({ prefix: "full-" });
await run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder);
try {
  await fault();
  console.log("ok");
} finally {
  await run("umount", folder);
  await Deno.remove(folder);
}

async function fault(): Promise<void> {
  const log = `${folder}/stdout.log`;
  const said: string[] = [];
  const settings = { maxSizeBytes: 65_536, maxFiles: 3, maxAgeMs: 1e9, compress: false };
  const logs = { stdout: log, stderr: `${folder}/stderr.log` };
  const parts = { config: { log: settings }, snapshot: { run: {} }, logs };
  const process = parts as unknown as ManagedProcess;
  // The clock runs 60 times as fast, so that the next attempt comes soon.
  const clock = { ...systemClock, steady: () => systemClock.steady() * 60 };
  const keeper = new LogKeeper({
    clock: { ...clock, after: (ms, act) => systemClock.after(ms / 60, act) },
    list: () => [process],
    warn: (message) => said.push(message),
    troubled: () => {},
  });
  await Deno.writeTextFile(log, "x".repeat(99).concat("\n").repeat(4000));
  await Deno.writeTextFile(`${folder}/ballast`, "x".repeat(500_000));
  keeper.start();
  await waitFor(() => said.some((message) => message.includes("will try again")));
  if (listArchives(log).length !== 0) throw new Error("Half an archive was left behind");
  if (Deno.statSync(log).size !== 400_000) throw new Error("The log was cut without an archive");
  await Deno.remove(`${folder}/ballast`);
  await waitFor(() => listArchives(log).length === 1 && Deno.statSync(log).size === 0);
  console.log(said.join("\n"));
  await keeper.close();
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
