/** The folds over found lines: the lines themselves, and their patterns. */

import { assertEquals, assertRejects } from "@std/assert";
import { foundLines, patternOf, patternsOf } from "../../src/daemon/log_folds.ts";
import type { LogSlice } from "../../src/logs/read/merged_logs.ts";
import { LevelReader } from "../../src/model/log_level.ts";
import { ProcsupError } from "../../src/model/errors.ts";

/** Lines of an app, as a search finds them: the newest first. */
async function* slices(
  ...apps: readonly (readonly [string, ...string[]])[]
): AsyncGenerator<LogSlice> {
  for (const [name, ...lines] of apps) {
    const levels = new LevelReader();
    const entries = lines.map((line, at) => {
      const level = levels.of(line);
      return { line, at, start: at, end: at + 1, meaning: { level, part: levels.part, head: 0 } };
    });
    yield { of: { name, stream: "stderr" }, entries: entries.reverse() };
  }
}

async function* failing(code: "timeout" | "internal"): AsyncGenerator<LogSlice> {
  yield* slices(["a", "n 1"]);
  throw new ProcsupError(code, "too long");
}

Deno.test("patternOf() is the same for lines that differ only in numbers and ids", () => {
  const same = [
    "took 5 ms at 12:30:01.5",
    "took 1,204.75 ms at 2:5",
    "\x1b[31mtook\x1b[0m 0 ms at 0",
    "took deadbeef42 ms at 0x1f",
    "took 6f9619ff-8b86-d011-b42d-00cf4fc964ff ms at req_8fK2mQ91x",
    '{"level":"error","msg":"took 5 ms at 7","user":"bob"}',
  ];
  assertEquals(new Set(same.map(patternOf)), new Set(["took # ms at #"]));
  assertEquals(patternOf("took five ms, effaced"), "took five ms, effaced");
});

Deno.test("foundLines() keeps the newest lines, in order", async () => {
  const { lines, truncated } = await foundLines(slices(["a", "1", "2", "3"]), 2);
  assertEquals([lines?.map(({ line, end }) => [line, end]), truncated], [
    [["2", 2], ["3", 3]],
    true,
  ]);
  assertEquals((await foundLines(slices(["a", "1", "2"]), 2)).truncated, false);
  const long = await foundLines(slices(["a", `${"x".repeat(1999)}😀`]), 2);
  assertEquals(long.lines?.[0]?.line.isWellFormed(), true);
  assertEquals(long.lines?.map(({ cut }) => cut), [1], "its length, since it is cut");
});

Deno.test("patternsOf() counts the patterns of all apps, a stack trace by its error", async () => {
  const trace = [
    "Traceback (most recent call last):",
    '  File "a.py", line 3',
    "ValueError: 7 is bad",
  ];
  const found = slices(["b", "n 3", ...trace, "n 4"], ["a", "rare", "n 1", ...trace, "n 2"]);
  const { patterns, truncated } = await patternsOf(found, 2, false);
  assertEquals(patterns?.map(({ line, count, apps, level }) => [line, count, apps, level]), [
    ["n 4", 4, ["b", "a"], undefined],
    ["ValueError: 7 is bad", 2, ["b", "a"], "error"],
  ]);
  assertEquals([patterns?.[0]?.at, patterns?.[0]?.first_at].map((at) => Date.parse(at!)), [4, 1]);
  assertEquals(truncated, true);
  assertEquals((await patternsOf(slices(["a", "1"]), 2, false)).truncated, false);
});

Deno.test("patternsOf() tells from when on it counted, if the search took too long", async () => {
  const { patterns, truncated, searched_since } = await patternsOf(failing("timeout"), 5, false);
  assertEquals([patterns?.length, truncated, searched_since], [1, true, new Date(0).toISOString()]);
  await assertRejects(() => patternsOf(failing("internal"), 5, false), ProcsupError, "too long");
});
