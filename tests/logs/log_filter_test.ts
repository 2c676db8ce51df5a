/** Filters for log lines. */

import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { LineSplitter } from "../../src/logs/read/line_splitter.ts";

const NOW = Date.UTC(2026, 10, 21);

Deno.test("parseLogFilter() reads times, absolute and relative", () => {
  const sinceOf = (since: string | Date) => parseLogFilter({ since }, NOW)!.since;
  assertEquals(sinceOf("10m"), NOW - 600_000);
  assertEquals(sinceOf("2d"), NOW - 2 * 86_400_000);
  assertEquals(sinceOf("2026-11-20T00:00:00Z"), NOW - 86_400_000);
  assertEquals(sinceOf(new Date(NOW)), NOW);
  assertEquals(parseLogFilter({}, NOW), undefined);
});

Deno.test("parseLogFilter() rejects invalid input and names the field", () => {
  assertThrows(
    () => parseLogFilter({ since: "soon" }, NOW),
    ProcsupError,
    'Invalid "since" "soon"',
  );
  assertThrows(() => parseLogFilter({ until: "2026-99-99" }, NOW), ProcsupError, 'Invalid "until"');
  assertThrows(() => parseLogFilter({ since: "7" }, NOW), ProcsupError, 'Invalid "since" "7"');
  assertThrows(() => parseLogFilter({ grep: "[" }, NOW), ProcsupError, 'Invalid "grep" "["');
  assertThrows(() => parseLogFilter({ invert: true }, NOW), ProcsupError, 'needs "grep"');
});

function cut(chunks: readonly Uint8Array[]): [string, number][] {
  const cutter = new LineSplitter();
  const lines: [string, number][] = [];
  let end = 0;
  for (const chunk of chunks) {
    cutter.add(chunk, end += chunk.length, (line, at) => lines.push([line, at]));
  }
  cutter.end(end, (line, at) => lines.push([line, at]));
  return lines;
}

Deno.test("LineSplitter splits lines across chunks, and reports where they end", () => {
  const bytes = new TextEncoder().encode("a\r\n\nü€😀\nlast");
  const expected = [["a", 3], ["", 4], ["ü€😀", 14], ["last", 18]];
  for (let at = 0; at <= bytes.length; at++) {
    assertEquals(cut([bytes.subarray(0, at), bytes.subarray(at)]), expected);
  }
  assertEquals(cut([new Uint8Array([0, 255, 10])]), [["\0\ufffd", 3]]);
});

Deno.test("LineSplitter splits a long line into pieces of whole characters", () => {
  const text = "€".repeat(100_000);
  const bytes = new TextEncoder().encode(`${text}\nnext\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 50_000) }, (_, i) => {
    return bytes.subarray(i * 50_000, (i + 1) * 50_000);
  });
  const lines = cut(chunks).map(([line]) => line);
  assertEquals(lines.at(-1), "next");
  assertEquals(lines.slice(0, -1).join("") === text, true);
  assertEquals(lines.length > 4, true);
});

Deno.test("parseLogFilter() finds lines by level and case-insensitively", async () => {
  const passing = async (input: Parameters<typeof parseLogFilter>[0]) => {
    const filter = parseLogFilter(input, NOW)!;
    await filter.ready();
    const [matches, other] = [filter.matcher!(), filter.matcher!()];
    // A stack trace in one log does not affect the lines of another.
    other("hello").next();
    return ["INFO up", "\x1b[31mERROR\x1b[0m Disk", "    at x", "done", "disk"]
      .filter((line) => matches(line).next().value);
  };
  assertEquals(await passing({ level: "error" }), ["\x1b[31mERROR\x1b[0m Disk", "    at x"]);
  assertEquals(await passing({ grep: "dis.", ignoreCase: true }), [
    "\x1b[31mERROR\x1b[0m Disk",
    "disk",
  ]);
  assertEquals(await passing({ grep: "DISK", ignoreCase: true, level: "warn" }), [
    "\x1b[31mERROR\x1b[0m Disk",
  ]);
  assertThrows(() => parseLogFilter({ ignoreCase: true }, NOW), ProcsupError, 'needs "grep"');
  const wrong = { level: "eror" } as unknown as Parameters<typeof parseLogFilter>[0];
  assertThrows(() => parseLogFilter(wrong, NOW), ProcsupError, "expected one of debug, info");
});

Deno.test("parseLogFilter() matches visible text, and ignores colors in between", () => {
  const matches = (line: string, invert: boolean) =>
    parseLogFilter({ grep: "ERROR disk", invert }, NOW)!.matcher!()(line).next().value;
  assertEquals(matches("\x1b[31mERROR\x1b[0m disk full", false), true);
  assertEquals(matches("\x1b[31mWARN\x1b[0m disk full", false), false);
  assertEquals(matches("\x1b[31mERROR\x1b[0m disk full", true), false);
});
