/** Where the last lines that pass a filter are looked for: from the end of a log, a part at a time. */

import { listArchives } from "./archives.ts";

/** A part of a log. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  /** Nothing before it is there, or wanted. */
  readonly isFirst: boolean;
}

/** Bytes of a part, where the log is not rotated away. A line that is longer comes in pieces of this. */
export const STRETCH_BYTES = 8 * 1024 * 1024;

/** The part that ends at `end`, nothing of before `from`: a whole archive below the file's `base`. */
export function lastStretch(
  log: string,
  { base, end }: { readonly base: number; readonly end: number },
  from: number,
): Stretch {
  const archives = listArchives(log, base);
  const first = Math.max(from, archives[0]?.start ?? base);
  const start = end > base
    ? Math.max(base, end - STRETCH_BYTES)
    : archives.findLast((archive) => archive.start < end)?.start ?? first;
  return { start: Math.max(first, start), end, isFirst: start <= first };
}
