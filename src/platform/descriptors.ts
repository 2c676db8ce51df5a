/** Descriptors that this process was started with. */

import { C, libc } from "./libc.ts";
import { isLinux } from "./os.ts";
import { readProc } from "./process_table.ts";

const FOLDER = isLinux ? "/proc/self/fd" : "/dev/fd";
const O_CLOEXEC = 0o2000000;

/**
 * Keeps what is open beyond the standard descriptors from the programs that this process starts. What
 * Deno opens is closed for them anyway; what the shell before it left open is not. Without the
 * permission to call the C library it stays as it is.
 */
export function sealDescriptors(): void {
  try {
    for (const { name } of Deno.readDirSync(FOLDER)) {
      const fd = Number(name);
      if (fd > 2 && !isSealed(fd)) libc().call.ioctl(fd, C.FIOCLEX);
    }
  } catch {
    // No such folder, or no permission.
  }
}

function isSealed(fd: number): boolean {
  const flags = isLinux ? /^flags:\s*(\d+)/m.exec(readProc(`/proc/self/fdinfo/${fd}`) ?? "") : null;
  return flags !== null && (parseInt(flags[1]!, 8) & O_CLOEXEC) !== 0;
}
