/** The newest lines of logs, read backward. */

import { assert, assertEquals } from "@std/assert";
import { newestLines } from "../../src/logs/read/merged_logs.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { Search } from "../../src/logs/read/search.ts";
import { addMarks } from "../../src/logs/write/time_index.ts";
import { CAN_COLLAPSE, LogScene, numbers } from "./rotation_scene.ts";

const MIB = 1024 * 1024;

/** Counts the bytes that are searched. */
class CountedSearch extends Search {
  bytes = 0;

  override add(bytes: number): void {
    this.bytes += bytes;
  }
}

async function last(scene: LogScene, count: number, filter: Parameters<typeof parseLogFilter>[0]) {
  const search = new CountedSearch();
  const log = { name: "app", stream: "stdout", path: scene.log } as const;
  const options = { complete: true, filter: parseLogFilter(filter, Date.now()), search };
  const lines: string[] = [];
  for await (const { entries } of newestLines([log], options)) {
    lines.push(...entries.map(({ line }) => line));
    if (lines.length >= count) break;
  }
  return { lines: lines.slice(0, count).reverse(), bytes: search.bytes };
}

Deno.test("newestLines() searches archives that begin in the middle of a line", {
  ignore: !CAN_COLLAPSE,
}, async () => {
  await using scene = new LogScene();
  const all = numbers(6000);
  await scene.append(all);
  let end = 0;
  const lines = all.trimEnd().split("\n");
  addMarks(scene.log, lines.map((line, i) => ({ at: i * 1000, end: end += line.length + 1 })));
  while (await scene.rotate()) { /* as often as there is something to cut */ }
  assert(scene.archives().length > 3);
  for (const grep of ["7", "99\\d$", "[13]00", "^1$", "none"]) {
    const all = lines.filter((line) => new RegExp(grep).test(line));
    for (const count of [1, 3, 40, 10_000]) {
      assertEquals((await last(scene, count, { grep })).lines, all.slice(-count));
    }
    const late = lines.filter((line, i) => i >= 2500 && new RegExp(grep).test(line));
    const { lines: found } = await last(scene, 10_000, { grep, since: new Date(2_500_000) });
    assertEquals(found, late);
  }
});

Deno.test("newestLines() reads no more than it needs", async () => {
  await using scene = new LogScene();
  const line = `${"x".repeat(1023)}\n`;
  await scene.append(`first\n${line.repeat(20 * 1024)}last\n`);
  const { lines, bytes } = await last(scene, 1, { grep: "last" });
  assertEquals([lines, bytes < 10 * MIB], [["last"], true]);
  assertEquals((await last(scene, 1, { grep: "first" })).lines, ["first"]);
  assertEquals((await last(scene, 3, { grep: "^(first|last)$" })).lines, ["first", "last"]);
});

Deno.test("newestLines() reads a longer line in pieces", async () => {
  await using scene = new LogScene();
  await scene.append(`before\n${"x".repeat(40 * MIB)} the end\nafter\n`);
  const { lines: [piece, ...rest], bytes } = await last(scene, 1, { grep: "end$" });
  assertEquals([piece?.slice(-7), rest, bytes < 30 * MIB], ["the end", [], true]);
  assertEquals((await last(scene, 1, { grep: "before" })).lines, ["before"]);
});
