/** The last lines of files, with every edge case. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { lastLines, lastTextLines } from "../../src/logs/read/last_lines.ts";
import { tempHome } from "../support/temp_home.ts";

const BLOCK = 64 * 1024;

async function lastOf(content: string, count: number, maxBytes?: number): Promise<string> {
  await using home = tempHome();
  const path = `${home.path}/log`;
  await Deno.writeTextFile(path, content);
  return new TextDecoder().decode(await lastLines(path, count, { maxBytes }));
}

Deno.test("lastLines() returns the last lines byte for byte", async () => {
  assertEquals(await lastOf("a\nb\nc\n", 2), "b\nc\n");
  assertEquals(await lastOf("a\nb\nc", 2), "b\nc");
  assertEquals(await lastOf("a\r\n\n\n", 2), "\n\n");
  assertEquals(await lastOf("a\n", 5), "a\n");
  assertEquals(await lastOf("", 5), "");
  assertEquals(await lastOf("\n", 1), "\n");
  assertEquals(await lastOf("a\nb\n", 0), "a\nb\n");
});

Deno.test("lastLines() is correct at every block boundary", async () => {
  for (const extra of [-2, -1, 0, 1, 2]) {
    const long = "x".repeat(BLOCK + extra);
    assertEquals(await lastOf(`first\n${long}\n`, 1), `${long}\n`);
    assertEquals(await lastOf(`first\n${long}`, 2), `first\n${long}`);
    assertEquals(await lastOf(`${long}\nlast\n`, 2), `${long}\nlast\n`);
  }
});

Deno.test("lastLines() agrees with splitting the whole text", async () => {
  await using home = tempHome();
  const path = `${home.path}/log`;
  const pieces = fc.constantFrom("\n", "a", "\r\n", "é", "x".repeat(BLOCK - 1), "y".repeat(BLOCK));
  const text = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 8 }), async (content, count) => {
      await Deno.writeTextFile(path, content);
      const lines = content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      const actual = new TextDecoder().decode(await lastLines(path, count, { maxBytes: Infinity }));
      assert(actual === lines.slice(-count).join(""));
    }),
    { numRuns: 60 },
  );
});

Deno.test("lastLines() returns at most maxBytes, from the end", async () => {
  assertEquals(await lastOf("abcdef", 1, 4), "cdef");
  assertEquals(await lastOf("abc\ndef\n", 0, 6), "c\ndef\n");
  assertEquals(await lastOf("abc\ndef\n", 9, 6), "c\ndef\n");
});

Deno.test("lastLines() stops at the given end", async () => {
  await using home = tempHome();
  const path = `${home.path}/log`;
  Deno.writeTextFileSync(path, "one\ntwo\nthree\n");
  assertEquals(await lastTextLines(path, 0, { until: 8 }), ["one", "two"]);
  assertEquals(await lastTextLines(path, 0, { until: 8, maxBytes: 4 }), ["two"]);
  assertEquals(await lastTextLines(path, 0, { from: 4, until: 100 }), ["two", "three"]);
});

Deno.test("lastLines() does not read a huge line", async () => {
  await using home = tempHome();
  const path = `${home.path}/log`;
  await Deno.writeTextFile(path, "");
  // A sparse gigabyte without a newline.
  await Deno.truncate(path, 2 ** 30);
  const bytes = await lastLines(path, 10);
  assertEquals(bytes.length, 1024 * 1024);
});

Deno.test("lastLines() returns nothing for a missing file", async () => {
  assertEquals((await lastLines("/nowhere/log", 3)).length, 0);
  assertEquals(await lastTextLines("/nowhere/log", 3), []);
});

Deno.test("lastTextLines() decodes lines and strips their line endings", async () => {
  await using home = tempHome();
  const path = `${home.path}/log`;
  await Deno.writeFile(path, new Uint8Array([97, 10, 0xff, 98, 13, 10, 10, 0xc3, 0xa9]));
  assertEquals(await lastTextLines(path, 3), ["\ufffdb", "", "é"]);
});
