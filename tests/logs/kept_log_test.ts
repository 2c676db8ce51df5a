/** Conclusions about a log from its size and times. */

import { assertEquals } from "@std/assert";
import { lastMark } from "../../src/logs/write/time_index.ts";
import { KeptLog } from "../../src/logs/keep/kept_log.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { tempHome } from "../support/temp_home.ts";

const PROCESS = {
  config: { log: { maxSizeBytes: 1 << 20, rotate: "size", maxAgeMs: Infinity } },
  logs: {},
  snapshot: { run: { runId: "run" }, pid: 1, startedAt: null },
} as unknown as ManagedProcess;

Deno.test("KeptLog does not mistake a write in progress, which sets the time before the size, for a truncation", async () => {
  await using home = tempHome();
  const path = `${home.path}/stdout.log`;
  Deno.writeTextFileSync(path, "one\n");
  const log = new KeptLog(path, {
    ...{ stream: "stdout", process: PROCESS, changed() {} },
    watch: { once: () => undefined },
  });
  let now = Date.now();
  const touch = () => Deno.utimeSync(path, new Date(now += 1000), new Date(now));
  const look = () => log.look(now, now += 1000);
  log.refresh();
  look();
  const first = lastMark(path);
  touch();
  look();
  assertEquals([log.trouble, lastMark(path)], [undefined, first]);
  Deno.writeTextFileSync(path, "two\n", { append: true });
  touch();
  look();
  assertEquals([log.trouble, lastMark(path)?.end], [undefined, 8]);

  // Rewritten with the same size, repeatedly.
  touch();
  look();
  touch();
  look();
  assertEquals(log.trouble, "truncated");
  log.release();
});

for (const isMissing of [true, false]) {
  const when = isMissing ? "before" : "after";
  Deno.test(`KeptLog does not take a new file for the truncated old one, whose inode it has: first seen ${when} it is opened`, async () => {
    await using home = tempHome();
    const [path, aside] = [`${home.path}/stdout.log`, `${home.path}/aside`];
    // An empty one keeps its size.
    Deno.writeTextFileSync(path, isMissing ? "of the old run\n" : "");
    const process = { ...PROCESS, snapshot: { ...PROCESS.snapshot } } as ManagedProcess;
    const log = new KeptLog(path, {
      ...{ stream: "stdout", process, changed() {} },
      watch: { once: () => undefined },
    });
    let now = Date.now();
    const look = () => log.look(now, now += 1000);
    log.refresh();
    look();
    Deno.renameSync(path, aside);
    Object.assign(process.snapshot, { run: { runId: "new" }, pid: 0 });
    if (isMissing) look();
    Deno.truncateSync(aside);
    Deno.utimeSync(aside, new Date(now), new Date(now));
    Deno.renameSync(aside, path);
    Object.assign(process.snapshot, { pid: 2 });
    for (let check = 0; check < 3; check++) look();
    assertEquals(log.trouble, undefined);
    log.release();
  });
}
