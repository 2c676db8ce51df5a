/** What a run reports, as it is read from the file of its notify socket. */

import { assert, assertEquals } from "@std/assert";
import { NoticeLog } from "../../src/platform/launch/notice_log.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("an app that reports without a pause does not hold up its supervisor", async () => {
  await using home = tempHome();
  const files = new RunFiles(home.path);
  const path = `${home.path}/run.notify`;
  Deno.writeTextFileSync(path, "STATUS=0\n\n");
  const log = new NoticeLog(files, "run", `${home.path}/none`);
  const MANY = 10_000;
  let said = 0;
  // Each message is followed by the next before anything else can be read.
  log.listen(() => {
    if (++said < MANY) Deno.writeTextFileSync(path, `STATUS=${said}\n\n`, { append: true });
  });
  Deno.writeTextFileSync(path, "STATUS=now\n\n", { append: true });
  log.look();
  assert(said < MANY, `it has read ${said} messages`);
  Deno.writeTextFileSync(path, "READY=1\n\n", { append: true });
  // Longer than the file may be while messages come in, and cut off in the middle of one.
  Deno.writeTextFileSync(path, `${"STATUS=much\n\n".repeat(1 << 20)}STATUS=la`, { append: true });
  said = MANY;
  log.look();
  assertEquals(Deno.readTextFileSync(path), "READY=1\nSTATUS=much\n\n");
  Deno.writeTextFileSync(path, "st\nWATCHDOG_USEC=5000\n", { append: true });
  log.look();
  assertEquals([log.now.status, log.now.watchdogMs], ["much", undefined]);
  Deno.writeTextFileSync(path, "\n", { append: true });
  log.look();
  assertEquals([log.now.status, log.now.watchdogMs], ["last", 5]);
  assert(said > 1 << 20);
  log.close();
  files.close();
});
