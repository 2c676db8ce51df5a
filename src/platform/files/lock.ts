/** A lock file that is free when its holder ends, even if killed. */

import { basename, dirname } from "@std/path";
import { quote } from "../../model/errors.ts";
import { removeFile } from "./atomic_file.ts";
import { sleep } from "../clock.ts";
import { isLinux } from "../os.ts";
import { descriptorsOf, linkOf, procPids } from "../scan/process_table.ts";
import { ifAny, lstatIfAny } from "./stat.ts";

/** A lock that is held until it is disposed of. */
export interface Lock extends Disposable {
  /** False when the file was removed or replaced. */
  readonly isCurrent: boolean;
}

/**
 * Takes the lock file for this process, or returns undefined when another one holds it. Throws for a
 * link: in a folder of another user, it could lead to a file of ours.
 */
export function takeLock(path: string): Lock | undefined {
  for (;;) {
    const file = opened(path);
    if (file === undefined) continue;
    if (!file.tryLockSync(true)) {
      file.close();
      return undefined;
    }
    const lock = heldLock(path, file);
    if (lock.isCurrent) return lock;
    // It was removed before it was locked: another one may exist and be locked by now.
    lock[Symbol.dispose]();
  }
}

/** Opens or creates it; undefined if it was removed meanwhile. */
function opened(path: string): Deno.FsFile | undefined {
  const there = lstatIfAny(path);
  // Opening a FIFO would wait for its reader.
  if (there?.isFile === false) throw new Error(`${quote(path)} is not a regular file`);
  // Creating it anew never follows a link.
  if (there !== undefined) return ifAny(() => Deno.openSync(path, { write: true }));
  try {
    return Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return undefined;
    throw error;
  }
}

function heldLock(path: string, file: Deno.FsFile): Lock {
  const { ino, dev } = file.statSync();
  return {
    get isCurrent() {
      const there = lstatIfAny(path);
      return there?.ino === ino && there.dev === dev;
    },
    [Symbol.dispose]() {
      // Closing is not enough: a process being forked holds the file for a moment longer.
      file.unlockSync();
      file.close();
    },
  };
}

const LOOK_MS = 10;

/** Like `takeLock()`, but waits a moment for a holder that is about to release it. */
export async function takeLockSoon(path: string, patienceMs: number): Promise<Lock | undefined> {
  // A process that was suspended meanwhile gives the holder all its turns, too.
  for (let waitedMs = 0;; waitedMs += LOOK_MS) {
    const lock = takeLock(path);
    if (lock !== undefined || waitedMs >= patienceMs) return lock;
    await sleep(LOOK_MS);
  }
}

/** True if a lock file is free. */
export function isFree(path: string): boolean {
  // The check must not create the file.
  if (lstatIfAny(path) === undefined) return true;
  const lock = takeLock(path);
  lock?.[Symbol.dispose]();
  return lock !== undefined;
}

/** Releases a lock and removes its file. */
export function removeLock(path: string, lock: Lock): void {
  if (lock.isCurrent) removeFile(path);
  lock[Symbol.dispose]();
}

/**
 * Pid of a process that has a lock file open, or the one that was removed from this path; undefined
 * if there is none, or the system does not show it. Looks at every process of the user.
 */
export function holderOf(path: string, isRemoved = false): number | undefined {
  if (!isLinux) return undefined;
  const there = `${Deno.realPathSync(dirname(path))}/${basename(path)}`;
  const target = isRemoved ? `${there} (deleted)` : there;
  for (const pid of procPids()) {
    if (descriptorsOf(pid).some((link) => linkOf(link) === target)) return pid;
  }
  return undefined;
}
