/** Finds the beginning of the last lines of a log, in its file or in an archive. */

import { type Archive, listArchives, openArchive } from "../write/archives.ts";
import { NEWLINE } from "./line_splitter.ts";
import type { LogCursor } from "./log_cursor.ts";
import { BLOCK_BYTES, fillAt } from "./read_at.ts";

/**
 * Position where the last `count` lines begin, but not before `floor`. The cursor must be open; `span`
 * is where its file begins and ends. An unfinished last line counts as a line.
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

/** Result of scanning a file backward. */
interface BackScan {
  /** Where the lines begin in the file; `floor` if it holds fewer. */
  readonly start: number;
  /** Number of newlines not found down to `floor`. */
  readonly missing: number;
  /** True if there was nothing to scan. */
  readonly empty: boolean;
}

/** Finds the beginning of the last `count` lines in the first `size` bytes of a file. */
async function scanBack(
  file: Deno.FsFile,
  size: number,
  count: number,
  floor: number,
): Promise<BackScan> {
  const buffer = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(0, size - floor)));
  // The newline at the very end does not separate two lines.
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
    // The newline at the very end does not separate two lines.
    if (atEnd && endsLine) positions.pop();
    if (positions.length >= left) return Math.max(floor, positions.at(-left)! + 1);
    left -= positions.length;
    start = archive.start;
    atEnd = false;
    if (start <= floor) break;
  }
  return Math.max(floor, start);
}

/** Positions of the last newlines in an archive, and whether it ends with one. */
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
    // Damaged: use what could be read.
  }
  return { positions: positions.slice(-count), endsLine: positions.at(-1) === at - 1 };
}
