/** Whether the kernel's log has the end of a process for lack of memory. */

import { assertEquals } from "@std/assert";
import { killsIn, tellsOutOfMemory } from "../../src/platform/scan/out_of_memory.ts";

const LOG = `<6>[100.1] tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0
<6>[100.2] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/procsup/0123abcd-4567,task=node,pid=4123,uid=0
<3>[100.3] Memory cgroup out of memory: Killed process 4123 (node) total-vm:72168kB, UID:0
`;

Deno.test("tellsOutOfMemory() finds a process by its pid, or by its control group", () => {
  const cases: [pid: number, group: string, found: boolean][] = [
    [4123, "ffff0000-1111", true],
    // Another pid: the log of a host, seen in its container.
    [7, "0123abcd-4567", true],
    [412, "0123abcd-456", false],
    [0, "ffff0000-1111", false],
  ];
  for (const [pid, group, found] of cases) {
    assertEquals(tellsOutOfMemory(LOG, pid, group), found, `${pid} ${group}`);
  }
});

Deno.test("killsIn() is the number of kills that the kernel counts; undefined if it does not", () => {
  assertEquals(killsIn("nr_free_pages 5\noom_kill 12\ndrop_pagecache 0\n"), "12");
  assertEquals(killsIn("nr_free_pages 5\nworkingset_oom_kill 3\n"), undefined);
  assertEquals(killsIn(""), undefined);
});
