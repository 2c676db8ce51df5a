/** Versions that the portable executable unpacked: marks the used one and removes old ones. */

import { dirname } from "@std/path";
import { takeLock } from "./files/lock.ts";
import { isLinux } from "./os.ts";
import { linkOf, procPids } from "./scan/process_table.ts";
import { lookAt } from "./files/stat.ts";

/** How long an unused version is kept after its last start: another start may be about to come. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Lock file, held shared by the processes that run from the folder. Its time is the last start. */
const IN_USE = ".used";

/** The folder of a version is named by its hash; `.new.…` is an unfinished one. */
const VERSION_FOLDER = /^(?:[0-9a-f]{64}|\.new\..+)$/;

/** Marks the folder as in use while this process lives. Takes some 30 µs at each command. */
export function holdUnpacked(folder: string): void {
  try {
    const file = Deno.openSync(`${folder}/${IN_USE}`, { write: true, create: true });
    const now = new Date();
    file.utimeSync(now, now);
    // Never closed, so the lock ends with the process. The folder is deleted only while it is not locked.
    file.tryLockSync(false);
  } catch {
    // We cannot remove a read-only folder either.
  }
}

/**
 * Removes our other versions beside `folder` that no process runs from and that were not started
 * for a day. Returns the names of the folders. The lock also shows a daemon in another container,
 * and the process table an app that runs on our Deno.
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
    // Another user's folder may contain anything, such as a FIFO in place of the lock.
    if (Deno.lstatSync(folder).uid !== Deno.uid()) return false;
    const last = (lookAt(`${folder}/${IN_USE}`) ?? Deno.statSync(folder)).mtime;
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

/** Whether the executable of a process is in the folder. Other users cannot enter it. */
function runsFrom(folder: string): boolean {
  return isLinux &&
    [...procPids()].some((pid) => linkOf(`/proc/${pid}/exe`).startsWith(`${folder}/`));
}
