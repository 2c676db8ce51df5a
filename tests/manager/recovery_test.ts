/** Finding the wrapper of a run that is not on record. */

import { assertEquals } from "@std/assert";
import { orphanOf } from "../../src/manager/recovery.ts";
import type { Run } from "../../src/model/process_state.ts";
import { processRow } from "../../src/platform/process_table.ts";

Deno.test("orphanOf() identifies the wrapper as the oldest process of the run", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const sleep = () =>
    new Deno.Command("sleep", { args: ["1000"], stdin: "null", detached: true }).spawn();
  await using older = sleep();
  // Start times have a resolution of a hundredth of a second.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await using younger = sleep();
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
