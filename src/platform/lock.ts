/** A lock that ends with its holder, however that ends. */

/** Takes the lock file for this process, or returns undefined when another one holds it. */
export function takeLock(path: string): Disposable | undefined {
  const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
  if (!file.tryLockSync(true)) {
    file.close();
    return undefined;
  }
  return file;
}

/** Whether nobody holds a lock file. */
export function isFree(path: string): boolean {
  const lock = takeLock(path);
  lock?.[Symbol.dispose]();
  return lock !== undefined;
}
