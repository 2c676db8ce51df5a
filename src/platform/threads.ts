/**
 * Threads of the runtime, which ends when it needs one and the system refuses it, because the user has
 * used up their processes. What it does aside (files, names of hosts, digests) it does on threads that
 * it makes when it needs them and gives up after 10 s without work. Refused another one, such work
 * waits for those that are there; only without any the runtime ends.
 */

import { mayCallC, openLibc, openLibrary } from "./libc.ts";

const PAUSE = {
  // Returns after a signal to its thread: the runtime has another one for those.
  pause: { parameters: [], result: "i32", nonblocking: true },
} as const satisfies Deno.ForeignLibraryInterface;

const PTHREAD = {
  pthread_create: { parameters: ["buffer", "pointer", "pointer", "pointer"], result: "i32" },
  pthread_join: { parameters: ["u64", "pointer"], result: "i32" },
  // The thread calls this and ends.
  getpid: { type: "pointer" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Shorter than a thread is kept without work. */
const KEEP_MS = 8000;

/**
 * Keeps two threads from now on: one that never does anything else, so that one always exists, and
 * one for the work that comes when no other thread can be made. Calls `warn` when that happens.
 * Costs one look at a file every 8 s.
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
    if (waits) warn("The system gives no more threads: what needs one waits");
    else use();
  }, KEEP_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** The same as `Deno.watchFs()`, which would end the runtime without a thread. Throws instead. */
export function watchFolders(folders: string | string[]): Deno.FsWatcher {
  if (!canMakeThread()) throw new Error("the system gives no more threads");
  return Deno.watchFs(folders, { recursive: false });
}

/** Makes one and waits for its end. True where that cannot be tried. */
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

/** Undefined where threads are in a library of their own, as in glibc before 2.34. */
function openPthread(): Deno.DynamicLibrary<typeof PTHREAD> | undefined {
  try {
    return openLibrary(PTHREAD);
  } catch {
    return undefined;
  }
}
