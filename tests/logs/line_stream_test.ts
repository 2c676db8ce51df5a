/** Lines out of chunks. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { lineStream } from "../../src/logs/line_stream.ts";

const MAX = 64 * 1024;

async function linesOf(...chunks: (string | number[])[]): Promise<string[]> {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : new Uint8Array(chunk)
  );
  const lines = [];
  for await (const line of ReadableStream.from(bytes).pipeThrough(lineStream())) lines.push(line);
  return lines;
}

Deno.test("lineStream() splits lines wherever the chunks are cut", async () => {
  assertEquals(await linesOf("a\nb", "c\n", "\nd"), ["a", "bc", "", "d"]);
  assertEquals(await linesOf("a\r", "\nb\r\nc\rd"), ["a", "b", "c\rd"]);
  assertEquals(await linesOf(), []);
  assertEquals(await linesOf("", "\n"), [""]);
});

Deno.test("lineStream() decodes characters split over chunks, and what is none", async () => {
  assertEquals(await linesOf([0xf0, 0x9f], [0x98], [0x80, 10]), ["😀"]);
  assertEquals(await linesOf([97, 0xff, 98, 10, 0xe2, 0x82]), ["a\ufffdb", "\ufffd"]);
});

Deno.test("lineStream() gives a long line in pieces", async () => {
  const long = "x".repeat(MAX);
  assertEquals((await linesOf(`${long}\n`, "a")).map((line) => line.length), [MAX, 1]);
  assertEquals((await linesOf(long, "\r", "\nb")).map((line) => line.length), [MAX, 1]);
  assertEquals((await linesOf(long + long, "yz\nb\n")).map((line) => line.length), [
    MAX,
    MAX,
    2,
    1,
  ]);
  const [first, second] = await linesOf(`${long.slice(1)}😀\n`);
  assertEquals([first!.length, second], [MAX - 1, "😀"]);
});

Deno.test("lineStream() agrees with splitting the whole text", async () => {
  const piece = fc.constantFrom("\n", "\r\n", "a", "é", "😀", "");
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.nat(), async (pieces, seed) => {
      const bytes = new TextEncoder().encode(pieces.join(""));
      const cut = bytes.length === 0 ? 0 : seed % bytes.length;
      const expected = pieces.join("").split("\n").map((line) => line.replace(/\r$/, ""));
      if (expected.at(-1) === "") expected.pop();
      const lines = await linesOf([...bytes.subarray(0, cut)], [...bytes.subarray(cut)]);
      assert(JSON.stringify(lines) === JSON.stringify(expected));
    }),
    { numRuns: 100 },
  );
});
