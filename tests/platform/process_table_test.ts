/** The process table: its unit of memory, and when it cannot be read. */

import { pageBytesIn } from "../../src/platform/scan/process_table.ts";
import { assertEquals } from "@std/assert";

const src = new URL("../../src/platform/", import.meta.url).href;

/** Loads everything it needs, then takes every descriptor. */
const PROGRAM = `
import { isListenedOn } from "${src}scan/listening_ports.ts";
import {
  lackCheck, processRow, processTable, processTableIfReadable
} from "${src}scan/process_table.ts";
import { memoryOfTrees } from "${src}scan/usage.ts";
const looks = () => [
  processTableIfReadable().length > 0,
  memoryOfTrees([Deno.ppid]).size > 0,
  isListenedOn(port),
];
using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const { port } = listener.addr;
const before = looks();
const held = [];
try { for (;;) held.push(Deno.openSync("/dev/null")); } catch {}
const codeOf = (act) => { try { act(); } catch (error) { return error.code; } };
const check = lackCheck();
const row = processRow(Deno.pid);
const codes = [codeOf(check), codeOf(processTable)];
const since = lackCheck();
const without = looks();
for (const file of held) file.close();
const after = codeOf(since);
console.log(JSON.stringify({ before, without, row, codes, after }));
`;

Deno.test({
  name: "processTable() throws without a descriptor, and a repeated scan finds nothing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using tree = new Deno.Command("/bin/sh", {
      args: ["-c", 'ulimit -n 64; "$0" eval "$1"; :', Deno.execPath(), PROGRAM],
      // The root of a tree leads a group.
      detached: true,
      stdout: "piped",
    }).spawn();
    const { stdout } = await tree.output();
    assertEquals(JSON.parse(new TextDecoder().decode(stdout)), {
      before: [true, true, true],
      without: [false, false, false],
      codes: ["EMFILE", "EMFILE"],
    });
  },
});

Deno.test({
  name: "pageBytesIn() finds the size of a page, which is not 4 KiB on every machine",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { stdout } = await new Deno.Command("getconf", { args: ["PAGESIZE"] }).output();
    const own = pageBytesIn(Deno.readFileSync("/proc/self/auxv"));
    assertEquals(own, Number(new TextDecoder().decode(stdout)));
    const large = new BigUint64Array([33n, 6n, 6n, 16384n, 0n, 0n]);
    assertEquals(pageBytesIn(new Uint8Array(large.buffer)), 16384);
  },
});
