/** The end of a log, found from its end: what it costs depends on what is asked, not on the file. */

import { BLOCK_BYTES, fillAt, openIfAny } from "./read_at.ts";

const NEWLINE = 10;

/**
 * Position in the first `size` bytes of a file where their last `count` lines begin, `floor` at the
 * least. A last line without newline counts as a line.
 */
export async function startOfLastLines(
  file: Deno.FsFile,
  size: number,
  count: number,
  floor = 0,
): Promise<number> {
  const buffer = new Uint8Array(Math.min(BLOCK_BYTES, size - floor));
  // The newline that ends the last line separates it from nothing.
  let end = size;
  let left = count;
  for (let first = true; end > floor; first = false) {
    const start = Math.max(floor, end - BLOCK_BYTES);
    const block = await fillAt(file, start, buffer.subarray(0, end - start));
    let at = block.length - (first && block.at(-1) === NEWLINE ? 1 : 0);
    while (at > 0 && (at = block.lastIndexOf(NEWLINE, at - 1)) >= 0) {
      if (--left === 0) return start + at + 1;
    }
    end = start;
  }
  return floor;
}

/**
 * The last `count` lines of a file, byte for byte; with 0 as much of its end as `maxBytes` holds,
 * which also bounds the rest: of a longer end the beginning is missing. Empty without a file.
 */
export async function lastLines(
  path: string,
  count: number,
  maxBytes: number = 1024 * 1024,
): Promise<Uint8Array<ArrayBuffer>> {
  using file = await openIfAny(path);
  if (file === undefined) return new Uint8Array();
  const { size } = await file.stat();
  const floor = Math.max(0, size - maxBytes);
  const start = count > 0 ? await startOfLastLines(file, size, count, floor) : floor;
  return await fillAt(file, start, new Uint8Array(size - start));
}

/** The last lines of a file as text without line ends; bytes that are no UTF-8 become U+FFFD. */
export async function lastTextLines(
  path: string,
  count: number,
  maxBytes?: number,
): Promise<string[]> {
  const text = new TextDecoder().decode(await lastLines(path, count, maxBytes));
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // What stands after the last newline is no line when it is empty.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
