/**
 * Care for this process: its threads, its freed memory, and the orphans that it inherits.
 *
 * Deno exits when the system refuses it a thread that it needs, because the user has too many
 * processes. It handles files, host names and digests on threads that it creates on demand and ends
 * after 10 s without work. If it cannot create another one, the work waits for an existing one; only
 * without any does the runtime exit.
 */

import { ifPossible } from "../model/errors.ts";
import { mayCallC, openLibc, openLibrary } from "./libc.ts";
import { isLinux } from "./os.ts";
import { processTableIfReadable } from "./scan/process_table.ts";

const PAUSE = {
  // Returns after a signal to its thread. The runtime handles signals in another one.
  pause: { parameters: [], result: "i32", nonblocking: true },
} as const satisfies Deno.ForeignLibraryInterface;

const PTHREAD = {
  pthread_create: { parameters: ["buffer", "pointer", "pointer", "pointer"], result: "i32" },
  pthread_join: { parameters: ["u64", "pointer"], result: "i32" },
  // The thread calls this and ends.
  getpid: { type: "pointer" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Shorter than the time for which an idle thread is kept. */
const KEEP_MS = 8000;

/**
 * Keeps two threads: one that stays blocked, so that one always exists, and one for work when no
 * other can be created. Calls `warn` when that happens. Costs one `lstat` every 8 s.
 */
export function reserveThreads(warn: (message: string) => void): Disposable {
  if (mayCallC()) void openLibc(PAUSE).pause();
  let waits = false;
  const use = () => {
    waits = true;
    void Deno.lstat("/").finally(() => waits = false);
  };
  use();
  const timer = setInterval(() => {
    if (waits) warn("The system has no more threads: work that needs one waits");
    else use();
  }, KEEP_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Like `Deno.watchFs()`, but throws where the runtime would exit for lack of a thread. */
export function watchFolders(folders: string | string[]): Deno.FsWatcher {
  if (!canMakeThread()) throw new Error("the system has no more threads");
  return Deno.watchFs(folders, { recursive: false });
}

/** Tries to create a thread. True where that cannot be tried. */
function canMakeThread(): boolean {
  // Undefined where threads are in a separate library, as in glibc before 2.34.
  const library = mayCallC() ? ifPossible(() => openLibrary(PTHREAD)) : undefined;
  if (library === undefined) return true;
  const { pthread_create, pthread_join, getpid } = library.symbols;
  const thread = new BigUint64Array(1);
  const isMade = pthread_create(thread, null, getpid as Deno.PointerValue, null) === 0;
  if (isMade) pthread_join(thread[0]!, null);
  library.close();
  return isMade;
}

const MALLOC = {
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
  const { malloc_trim } = mayCallC() ? openLibc(MALLOC) : {};
  if (!malloc_trim) return { [Symbol.dispose]() {} };
  const timer = setInterval(() => malloc_trim(0n), TRIM_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const LOOK_EVERY_MS = 500;

const WNOHANG = 1;

const WAIT = {
  waitpid: { parameters: ["i32", "pointer", "i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * Collects orphaned zombies until it is disposed of. Deno collects our own children at once, so a
 * zombie that is still there at a second look is an orphan. Does nothing unless this is pid 1.
 */
export function reapOrphans(): Disposable {
  if (Deno.pid !== 1 || !isLinux) return { [Symbol.dispose]() {} };
  const { waitpid } = openLibc(WAIT);
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
