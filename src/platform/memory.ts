/**
 * Gives back what only a busy moment needed. The start of the program and a listing run through code
 * that an idle daemon does not touch again, and the kernel counts every page of it as the daemon's
 * until memory runs short. Dropped, it stays in the kernel's cache, whence the next use takes it again
 * within microseconds a page.
 */

import { openLibc } from "./libc.ts";
import { isLinux } from "./os.ts";

const SYMBOLS = {
  madvise: { parameters: ["u64", "usize", "i32"], result: "i32" },
  // glibc's own.
  malloc_trim: { parameters: ["usize"], result: "i32", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

const MADV_DONTNEED = 4;

/** A stretch of the address space. */
interface Stretch {
  readonly from: bigint;
  readonly bytes: bigint;
}

let library: Deno.StaticForeignLibraryInterface<typeof SYMBOLS> | undefined;

/** Gives memory back to the system. Does nothing where that is not Linux. */
export async function giveBackMemory(): Promise<void> {
  if (!isLinux) return;
  library ??= openLibc(SYMBOLS);
  library.malloc_trim?.(0n);
  for (const { from, bytes } of droppable(await Deno.readTextFile("/proc/self/smaps"))) {
    library.madvise(from, bytes, MADV_DONTNEED);
  }
}

/**
 * The mappings of files, out of `/proc/self/smaps`, that nothing can write to and nothing has: what
 * the dynamic linker has changed (`Anonymous`) is in no file and would be lost.
 */
export function droppable(smaps: string): Stretch[] {
  const stretches: Stretch[] = [];
  for (const mapping of smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) r-[x-][ps] \S+ \S+ ([0-9]+)/.exec(mapping);
    if (head === null || head[3] === "0" || !/^Anonymous: +0 kB/m.test(mapping)) continue;
    const [from, to] = [BigInt(`0x${head[1]}`), BigInt(`0x${head[2]}`)];
    stretches.push({ from, bytes: to - from });
  }
  return stretches;
}
