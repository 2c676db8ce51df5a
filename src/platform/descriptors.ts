/** Descriptors that this process was started with. */

import { C, mayCallC, openLibrary } from "./libc.ts";
import { isLinux } from "./os.ts";
import { readProc } from "./process_table.ts";

const FOLDER = isLinux ? "/proc/self/fd" : "/dev/fd";
const O_CLOEXEC = 0o2000000;

const IOCTL = { ioctl: { parameters: ["i32", "u64"], result: "i32" } } as const;

/**
 * Keeps what is open beyond the standard descriptors from the programs that this process starts. What
 * Deno opens is closed for them anyway; what the shell before it left open is not. Without the
 * permission to call the C library it stays as it is.
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

/** Unknown on other systems, where sealing it once more does no harm. */
function isSealed(fd: number): boolean {
  const flags = isLinux ? /^flags:\s*(\d+)/m.exec(readProc(`/proc/self/fdinfo/${fd}`) ?? "") : null;
  return flags !== null && (parseInt(flags[1]!, 8) & O_CLOEXEC) !== 0;
}
