/** What the portable executable unpacked, in versions: which one is in use, and which may go. */

import { dirname } from "../npm/path.js";
import { takeLock } from "./lock.ts";
import { isLinux } from "./os.ts";

/** How long an unused version stays after its last start: another process may be about to start it. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Held, shared, by every process that runs from the folder; its time is that of the last start. */
const IN_USE = ".used";

/** The folder of a version is called by its hash; `.new.…` is one that was never finished. */
const VERSION_FOLDER = /^(?:[0-9a-f]{64}|\.new\..+)$/;

/** Says, as long as this process lives, that the folder is in use. Costs each command some 30 µs. */
export function holdUnpacked(folder: string): void {
  try {
    const file = Deno.openSync(`${folder}/${IN_USE}`, { write: true, create: true });
    const now = new Date();
    file.utimeSync(now, now);
    // Never closed, so the lock ends with the process. The folder is deleted only while it is not locked.
    file.tryLockSync(false);
  } catch {
    // A folder that is for reading only is not ours to remove either.
  }
}

/**
 * Removes every other version of ours beside `folder` that no process runs from and that was not started for
 * a day. Returns the names of the folders. The lock sees a daemon in another container too, and the
 * process table sees an app that was given our Deno.
 */
export function pruneUnpacked(folder: string, now = Date.now()): string[] {
  const cache = dirname(folder);
  const others = [...Deno.readDirSync(cache)].filter(({ name, isDirectory }) =>
    isDirectory && VERSION_FOLDER.test(name) && `${cache}/${name}` !== folder
  );
  return others.map(({ name }) => name).filter((name) => prune(`${cache}/${name}`, now));
}

function prune(folder: string, now: number): boolean {
  try {
    // Another user's may hold anything, a FIFO for a lock included.
    if (Deno.lstatSync(folder).uid !== Deno.uid()) return false;
    const last = lastStart(folder);
    if (last === null || now - last.getTime() < KEPT_MS || runsFrom(folder)) return false;
    using free = takeLock(`${folder}/${IN_USE}`);
    if (free === undefined) return false;
    Deno.removeSync(folder, { recursive: true });
    return true;
  } catch {
    // Another process removes it, or it is not ours.
    return false;
  }
}

function lastStart(folder: string): Date | null {
  try {
    return Deno.statSync(`${folder}/${IN_USE}`).mtime;
  } catch {
    return Deno.statSync(folder).mtime;
  }
}

/** Whether the program of some process that we may look at is in the folder. */
function runsFrom(folder: string): boolean {
  if (!isLinux) return false;
  for (const { name } of Deno.readDirSync("/proc")) {
    try {
      if (Number(name) > 0 && Deno.readLinkSync(`/proc/${name}/exe`).startsWith(`${folder}/`)) {
        return true;
      }
    } catch {
      // Gone, or another user's: that one cannot enter a folder of mode 0700.
    }
  }
  return false;
}
