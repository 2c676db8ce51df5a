/** Collects orphans: a process that is pid 1 inherits them, and Deno waits for its own children only. */

import { openLibc } from "./libc.ts";
import { isLinux } from "./os.ts";
import { processTableIfReadable } from "./process_table.ts";

const LOOK_EVERY_MS = 500;

const WNOHANG = 1;

const SYMBOLS = {
  waitpid: { parameters: ["i32", "pointer", "i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * Collects orphaned zombies until it is disposed of. Deno collects our own children at once, so a
 * zombie that is still there at a second look is an orphan. Does nothing unless this is pid 1.
 */
export function reapOrphans(): Disposable {
  if (Deno.pid !== 1 || !isLinux) return { [Symbol.dispose]() {} };
  const { waitpid } = openLibc(SYMBOLS);
  let seen = new Set<string>();
  const look = () => {
    const zombies = processTableIfReadable().filter((row) => row.zombie && row.ppid === 1);
    const now = new Set<string>();
    for (const zombie of zombies) {
      const name = `${zombie.pid} ${zombie.start}`;
      if (seen.has(name)) waitpid(zombie.pid, null, WNOHANG);
      else now.add(name);
    }
    seen = now;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
