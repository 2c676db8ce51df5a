/** Returns memory to the system that was freed, but that the C library keeps. */

import { mayCallC, openLibc } from "./libc.ts";

const SYMBOLS = {
  // Only glibc has it, and only glibc needs it.
  malloc_trim: { parameters: ["usize"], result: "i32", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

/** One call takes about 0.3 ms when there is nothing to return, and some 5 ms after a start. */
const TRIM_EVERY_MS = 20_000;

/**
 * Returns freed memory to the system at intervals. glibc itself returns only memory at the end of
 * its heaps: the 20 MB that compiling the program takes at the first start would never be returned.
 */
export function returnFreedMemory(): Disposable {
  const { malloc_trim } = mayCallC() ? openLibc(SYMBOLS) : {};
  if (!malloc_trim) return { [Symbol.dispose]() {} };
  const timer = setInterval(() => malloc_trim(0n), TRIM_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
