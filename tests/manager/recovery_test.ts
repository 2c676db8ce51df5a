/** Finding the wrapper of a run that is not on record, and halting. */

import { assertEquals } from "@std/assert";
import { orphanOf } from "../../src/manager/recovery.ts";
import type { Run } from "../../src/model/process_state.ts";
import { sleep } from "../../src/platform/clock.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { isAlive } from "../support/procsup.ts";
import { TestManager } from "../support/test_manager.ts";

Deno.test("orphanOf() identifies the wrapper as the oldest process of the run", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const sleeper = () =>
    new Deno.Command("sleep", { args: ["1000"], stdin: "null", detached: true }).spawn();
  await using older = sleeper();
  // Start times have a resolution of a hundredth of a second.
  await sleep(50);
  await using younger = sleeper();
  const found = (pids: number[]) => {
    const { wrapperPid, wrapperStart } = orphanOf({ wrapperPid: 0 } as Run, pids, "boot")!;
    return [wrapperPid, wrapperStart];
  };
  assertEquals(found([older.pid, younger.pid]), [older.pid, processRow(older.pid)!.start]);
  // It leads its own group, but did not start the other one.
  assertEquals(found([younger.pid, older.pid]), [younger.pid, ""]);
  older.kill();
  younger.kill();
});

Deno.test("halt() stops the apps although the boot cannot be recorded, as on a full disk", async () => {
  await using test = await TestManager.open();
  const { pid } = await test.script("app", "exec sleep 1000");
  Deno.removeSync(`${test.home}/state/boot`);
  Deno.mkdirSync(`${test.home}/state/boot/in_the_way`, { recursive: true });
  assertEquals((await test.supervisor.halt()).map(({ error }) => error), [undefined]);
  assertEquals(isAlive(pid), false);
  Deno.removeSync(`${test.home}/state/boot`, { recursive: true });
});
