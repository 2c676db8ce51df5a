/** The home of one `procsup run`, in the folder for temporary files. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { isFree } from "../platform/lock.ts";
import { dirname, pathsIn } from "../platform/paths.ts";

/** Of the first process of a container. All that it ran has ended when it has. */
const FIRST = "procsup-init-";
const OTHERS = "procsup-run-";

/** Since when a home without a lock is no longer one that is being made. */
const MADE_MS = 60_000;

/**
 * Makes one. A container that was killed, and is started again, has those of its earlier lives in
 * it, with their logs: they go. Throws `home_unusable` where nothing can be written.
 */
export function makeRunHome(isFirst: boolean = Deno.pid === 1): string {
  const home = make(isFirst ? FIRST : OTHERS);
  if (isFirst) removeLeft(dirname(home));
  return home;
}

function make(prefix: string): string {
  try {
    return Deno.makeTempDirSync({ prefix });
  } catch (error) {
    throw new ProcsupError(
      "home_unusable",
      `Cannot create a folder for this run: ${messageOf(error)}`,
      { hint: "name one with --home, or make /tmp writable: docker run --tmpfs /tmp" },
    );
  }
}

function removeLeft(folder: string): void {
  for (const { name } of Deno.readDirSync(folder)) {
    if (name.startsWith(FIRST)) removeIfLeft(`${folder}/${name}`);
  }
}

function removeIfLeft(home: string): void {
  try {
    const { isDirectory, uid, mtime } = Deno.lstatSync(home);
    if (!isDirectory || uid !== Deno.uid() || Date.now() - mtime!.getTime() < MADE_MS) return;
    if (isFree(pathsIn(home).lock)) Deno.removeSync(home, { recursive: true });
  } catch {
    // Another one may be removing it; it is in nobody's way.
  }
}
