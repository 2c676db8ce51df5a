/** Where the last lines of a log begin, be it in its file or, right after a rotation, in an archive. */

import { type Archive, listArchives, openArchive } from "./archives.ts";
import type { LogCursor } from "./log_cursor.ts";
import { BLOCK_BYTES, fillAt } from "./read_at.ts";

const NEWLINE = 10;

/**
 * Position where the last `count` lines of a log begin, `floor` at the least, on an open cursor.
 * `span` is where its file begins and ends. A last line without newline counts as a line.
 */
export async function startOfTail(
  path: string,
  cursor: LogCursor,
  span: { base: number; end: number },
  count: number,
  floor = 0,
): Promise<number> {
  const found = await cursor.consistently(async (base) => {
    const size = Math.max(0, span.end - base);
    return { base, ...await scanBack(cursor.file, size, count, Math.max(0, floor - base)) };
  });
  if (found.start > 0 || found.missing === 0 || found.base <= floor) {
    return found.base + found.start;
  }
  return await startInArchives(path, found, floor);
}

/** Where a search from the end of a file came to. */
interface BackScan {
  /** Where the lines begin in the file; `floor` when it holds fewer. */
  readonly start: number;
  /** Newlines that were still looked for at `floor`. */
  readonly missing: number;
  /** Nothing was there to look at. */
  readonly empty: boolean;
}

/** Looks for the beginning of the last `count` lines in the first `size` bytes of a file. */
async function scanBack(
  file: Deno.FsFile,
  size: number,
  count: number,
  floor: number,
): Promise<BackScan> {
  const buffer = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(0, size - floor)));
  // The newline that ends the last line separates it from nothing.
  let end = size;
  let missing = count;
  for (let first = true; end > floor; first = false) {
    const start = Math.max(floor, end - BLOCK_BYTES);
    const block = await fillAt(file, start, buffer.subarray(0, end - start));
    let at = block.length - (first && block.at(-1) === NEWLINE ? 1 : 0);
    while (at > 0 && (at = block.lastIndexOf(NEWLINE, at - 1)) >= 0) {
      if (--missing === 0) return { start: start + at + 1, missing, empty: false };
    }
    end = start;
  }
  return { start: floor, missing, empty: size <= floor };
}

async function startInArchives(
  path: string,
  { base, missing, empty }: { base: number; missing: number; empty: boolean },
  floor: number,
): Promise<number> {
  let left = missing;
  let start = base;
  let atEnd = empty;
  for (const archive of listArchives(path, base).reverse()) {
    const { positions, endsLine } = await lastNewlines(archive, left + 1);
    // The newline that ends the last line of all separates it from nothing.
    if (atEnd && endsLine) positions.pop();
    if (positions.length >= left) return Math.max(floor, positions.at(-left)! + 1);
    left -= positions.length;
    start = archive.start;
    atEnd = false;
    if (start <= floor) break;
  }
  return Math.max(floor, start);
}

/** Positions of the last newlines of an archive, and whether it ends with one. */
async function lastNewlines(
  archive: Archive,
  count: number,
): Promise<{ positions: number[]; endsLine: boolean }> {
  let positions: number[] = [];
  let at = archive.start;
  try {
    for await (const chunk of await openArchive(archive) ?? []) {
      for (let i = chunk.indexOf(NEWLINE); i >= 0; i = chunk.indexOf(NEWLINE, i + 1)) {
        positions.push(at + i);
      }
      if (positions.length > 4 * count) positions = positions.slice(-count);
      at += chunk.length;
    }
  } catch {
    // Damaged: what could be read counts.
  }
  return { positions: positions.slice(-count), endsLine: positions.at(-1) === at - 1 };
}
