/** Memory that was freed, and that the C library keeps for itself. */

import { mayCallC, openLibc } from "./libc.ts";

const SYMBOLS = {
  // Only glibc has it, and only glibc needs it.
  malloc_trim: { parameters: ["usize"], result: "i32", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

/** One call takes about 0.3 ms when there is nothing to return, and some 5 ms after a start. */
const TRIM_EVERY_MS = 20_000;

/**
 * Returns freed memory to the system from now on. glibc alone returns only what is at the end of its
 * heaps: what compiling the program took, 20 MB at the first start, would stay with the daemon forever.
 */
export function returnFreedMemory(everyMs: number = TRIM_EVERY_MS): Disposable {
  const { malloc_trim } = mayCallC() ? openLibc(SYMBOLS) : {};
  if (!malloc_trim) return { [Symbol.dispose]() {} };
  const timer = setInterval(() => malloc_trim(0n), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
