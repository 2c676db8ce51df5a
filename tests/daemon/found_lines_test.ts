/** Grouping of lines found by a log search. */

import { assertEquals, assertThrows } from "@std/assert";
import { FoundLines, patternOf } from "../../src/verbs/logs/handlers.ts";
import { Batches, LogBatch } from "../../src/daemon/log_batch.ts";
import { ProcsupError } from "../../src/model/errors.ts";

function batch(name: string, ...lines: string[]): LogBatch {
  const entries = lines.map((line, at) => ({ line, at, start: 0, end: 0 }));
  return new LogBatch([{ of: { name, stream: "stderr" }, entries }], false);
}

Deno.test("patternOf() is the same for lines that differ only in numbers", () => {
  const same = [
    "took 5 ms at 12:30:01.5",
    "took 1,204.75 ms at 2:5",
    "\x1b[31mtook\x1b[0m 0 ms at 0",
  ];
  assertEquals(new Set(same.map(patternOf)), new Set(["took # ms at #"]));
  assertEquals(patternOf("took five ms"), "took five ms");
});

Deno.test("FoundLines keeps the last lines, or the most frequent patterns of each app", () => {
  const lines = new FoundLines("lines", 2);
  for (const text of ["1", "2", "3"]) lines.add(batch("a", text));
  const last = lines.answer(10);
  assertEquals([last.lines?.map(({ line }) => line), last.truncated], [["2", "3"], true]);

  const long = new FoundLines("lines", 2);
  long.add(batch("a", `${"x".repeat(1999)}😀`));
  assertEquals(long.answer(10).lines?.[0]?.line.isWellFormed(), true);

  const patterns = new FoundLines("patterns", 2);
  patterns.add(batch("a", "rare", "n 1", "n 2"));
  patterns.add(batch("b", "n 3", "n 4", "n 5"));
  const { patterns: found, truncated } = patterns.answer(10);
  assertEquals(found?.map(({ name, count, line }) => [name, count, line]), [
    ["b", 3, "n 5"],
    ["a", 2, "n 2"],
  ]);
  assertEquals(truncated, true);
  const failed = new Batches(false).failed(new ProcsupError("timeout", "too long"));
  assertThrows(() => patterns.add(failed), ProcsupError, "too long");
});

Deno.test("FoundLines reports that there may be more lines than were searched", () => {
  const found = new FoundLines("patterns", 5);
  found.add(batch("a", "1", "2", "3"));
  assertEquals(found.answer(3).truncated, true);
  assertEquals(found.answer(4).truncated, false);
});
