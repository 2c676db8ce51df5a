/** A lock that ends with its holder, however that ends. */

import { sleep } from "./clock.ts";

/** Takes the lock file for this process, or returns undefined when another one holds it. */
export function takeLock(path: string): Disposable | undefined {
  const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
  if (!file.tryLockSync(true)) {
    file.close();
    return undefined;
  }
  return {
    [Symbol.dispose]() {
      // A process that is being forked holds the file for a moment longer.
      file.unlockSync();
      file.close();
    },
  };
}

/** How long those may hold a lock who are about to be gone, or only look whether it is free. */
const MOMENT_MS = 200;

/** The same, but for whoever holds it for a moment only. */
export async function takeLockSoon(path: string): Promise<Disposable | undefined> {
  const deadline = performance.now() + MOMENT_MS;
  for (;;) {
    const lock = takeLock(path);
    if (lock !== undefined || performance.now() > deadline) return lock;
    await sleep(10);
  }
}

/** Whether nobody holds a lock file. */
export function isFree(path: string): boolean {
  const lock = takeLock(path);
  lock?.[Symbol.dispose]();
  return lock !== undefined;
}
