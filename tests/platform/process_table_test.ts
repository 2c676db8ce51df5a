/** The process table: its unit of memory, and when it cannot be read. */

import { mayBelongTo } from "../../src/platform/listening_ports.ts";
import { pageBytesIn } from "../../src/platform/process_table.ts";
import { assertEquals } from "@std/assert";

const src = new URL("../../src/platform/", import.meta.url).href;

/** Loads everything it needs, then takes every descriptor. */
const PROGRAM = `
import { mayBelongTo } from "${src}listening_ports.ts";
import {
  lackCheck, processRow, processTable, processTableIfReadable
} from "${src}process_table.ts";
import { memoryOfTrees } from "${src}usage.ts";
const looks = () => [
  processTableIfReadable().length > 0,
  memoryOfTrees([Deno.ppid]).size > 0,
  mayBelongTo({ hostname: "127.0.0.1", port }, 999999),
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
      before: [true, true, false],
      // The owner of a port is unknown then.
      without: [false, false, true],
      codes: ["EMFILE", "EMFILE"],
    });
  },
});

Deno.test({
  name: "mayBelongTo() looks up the owner only of local addresses",
  ignore: Deno.build.os !== "linux",
  fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const own = Deno.networkInterfaces().find(({ family }) => family === "IPv4")!.address;
    const hosts = ["127.0.0.1", "localhost", own, "192.0.2.1", "db.example.com"];
    const answers = hosts.map((hostname) => mayBelongTo({ hostname, port }, 999999));
    assertEquals(answers, [false, false, false, true, true]);
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
