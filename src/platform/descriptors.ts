/** Keeps inherited descriptors from child processes. */

import { C, mayCallC, openLibrary } from "./libc.ts";
import { isLinux } from "./os.ts";
import { readProc } from "./process_table.ts";

const FOLDER = isLinux ? "/proc/self/fd" : "/dev/fd";
const O_CLOEXEC = 0o2000000;

const IOCTL = { ioctl: { parameters: ["i32", "u64"], result: "i32" } } as const;

/**
 * Sets close-on-exec on all descriptors but the standard ones, so that apps do not inherit them.
 * Deno's own have it, those that a shell left open do not. Does nothing without the permission to
 * call the C library.
 */
export function sealDescriptors(): void {
  const open = unsealed();
  if (open.length === 0 || !mayCallC()) return;
  const library = openLibrary(IOCTL);
  for (const fd of open) library.symbols.ioctl(fd, C.FIOCLEX);
  library.close();
}

function unsealed(): number[] {
  try {
    const all = [...Deno.readDirSync(FOLDER)].map(({ name }) => Number(name));
    return all.filter((fd) => fd > 2 && !isSealed(fd));
  } catch {
    return [];
  }
}

/** False on other systems, where sealing again does no harm. */
function isSealed(fd: number): boolean {
  const flags = isLinux ? /^flags:\s*(\d+)/m.exec(readProc(`/proc/self/fdinfo/${fd}`) ?? "") : null;
  return flags !== null && (parseInt(flags[1]!, 8) & O_CLOEXEC) !== 0;
}
