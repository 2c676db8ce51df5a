/** Batches of log lines for clients. */

import { assertEquals } from "@std/assert";
import { BATCHES } from "../../src/daemon/log_batch.ts";
import { EntryCutter } from "../../src/logs/read/entry_cutter.ts";
import type { LogSlice } from "../../src/logs/read/merged_logs.ts";
import type { LogLine } from "../../src/model/log_line.ts";

const encoder = new TextEncoder();

function sliceOf(text: string): LogSlice {
  const bytes = encoder.encode(text);
  return {
    of: { name: "app", stream: "stdout" },
    entries: new EntryCutter().cut(bytes, bytes.length, () => 0),
  };
}

async function linesOf(form: keyof typeof BATCHES, slice: LogSlice): Promise<LogLine[]> {
  const batches = await Array.fromAsync(BATCHES[form].stored(ReadableStream.from([slice])));
  return batches.flatMap(({ lines }) => lines);
}

Deno.test("lines over 8 KiB are cut with their length, and later pieces of them are empty", async () => {
  const long = "é".repeat(80_000);
  const slice = sliceOf(`first\n${long}\nlast\n`);
  const cut = await linesOf("cut", slice);
  assertEquals(cut.map(({ line, cut, partial }) => [line.length, cut, partial]), [
    [5, undefined, undefined],
    [8192, 65536, true],
    [0, 65536, true],
    // The newline is the last of its bytes.
    [0, 160_000 - 2 * 65536 + 1, undefined],
    [4, undefined, undefined],
  ]);
  // Its position finds the whole line again.
  assertEquals(cut[1]!.end - cut[1]!.cut!, "first\n".length);
  const whole = await linesOf("whole", slice);
  assertEquals(whole.slice(1, 4).map(({ line }) => line).join(""), long);
  assertEquals(whole.some(({ cut }) => cut !== undefined), false);
});

Deno.test("clients of one log share a batch of its new lines, by the form of the batch", () => {
  const slice = sliceOf("one\n");
  assertEquals(BATCHES.cut.arrived(slice) === BATCHES.cut.arrived(slice), true);
  assertEquals(BATCHES.cut.arrived(slice) === BATCHES.whole.arrived(slice), false);
});
