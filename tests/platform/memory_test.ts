/** What of the daemon's memory the system may have back. */

import { assert, assertEquals } from "@std/assert";
import { droppable } from "../../src/platform/memory.ts";

const SMAPS = `55d0c0000000-55d0c0100000 r--p 00000000 fd:00 1234    /usr/bin/deno
Size:               1024 kB
Rss:                 512 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
55d0c0100000-55d0c0300000 r-xp 00100000 fd:00 1234    /usr/bin/deno
Anonymous:             0 kB
55d0c0300000-55d0c0310000 r--p 00300000 fd:00 1234    /usr/bin/deno
Anonymous:            64 kB
55d0c0310000-55d0c0320000 rw-p 00310000 fd:00 1234    /usr/bin/deno
Anonymous:             0 kB
55d0c1000000-55d0c1100000 r--p 00000000 00:00 0    [heap]
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 00:00 0    [vdso]
Anonymous:             0 kB`;

Deno.test("droppable() takes what is in a file as it is in memory, and nothing else", () => {
  assertEquals(droppable(SMAPS), [
    { from: 0x55d0c0000000n, bytes: 0x100000n },
    { from: 0x55d0c0100000n, bytes: 0x200000n },
  ]);
});

Deno.test({
  name: "giveBackMemory() leaves a program smaller, and able to go on",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const program = `
      const { giveBackMemory } = await import(Deno.args[0]);
      const rss = () => Number(/RssFile:\\s+(\\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))[1]);
      const before = rss();
      await giveBackMemory();
      const after = rss();
      const answer = await new Promise((done) => setTimeout(() => done(JSON.parse("[1,2]").length), 1));
      console.log(JSON.stringify({ before, after, answer }));`;
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", program, import.meta.resolve("../../src/platform/memory.ts")],
    }).output();
    assert(success);
    const { before, after, answer } = JSON.parse(new TextDecoder().decode(stdout));
    assert(after < before / 2, `${before} kB before, ${after} kB after`);
    assertEquals(answer, 2);
  },
});
