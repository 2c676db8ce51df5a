/**
 * Threads of the runtime. Deno exits when the system refuses it a thread that it needs, because the
 * user has too many processes. It handles files, host names and digests on threads that it creates
 * on demand and ends after 10 s without work. If it cannot create another one, the work waits for
 * an existing one; only without any does the runtime exit.
 */

import { ifPossible } from "../model/errors.ts";
import { mayCallC, openLibc, openLibrary } from "./libc.ts";

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
  const library = mayCallC() ? openPthread() : undefined;
  if (library === undefined) return true;
  const { pthread_create, pthread_join, getpid } = library.symbols;
  const thread = new BigUint64Array(1);
  const isMade = pthread_create(thread, null, getpid as Deno.PointerValue, null) === 0;
  if (isMade) pthread_join(thread[0]!, null);
  library.close();
  return isMade;
}

/** Undefined where threads are in a separate library, as in glibc before 2.34. */
function openPthread(): Deno.DynamicLibrary<typeof PTHREAD> | undefined {
  return ifPossible(() => openLibrary(PTHREAD));
}
