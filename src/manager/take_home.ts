/** The directory of a manager, which it has alone. */

import { ProcsupError } from "../model/errors.ts";
import { takeLockSoon } from "../platform/lock.ts";
import { absolute, type HomePaths, libraryHome, prepareHome } from "../platform/paths.ts";

/** A directory that is taken until its lock is disposed of. */
export interface TakenHome {
  readonly paths: HomePaths;
  readonly lock: Disposable;
}

/** Makes the directory, the library's own without one, and takes it. Throws `home_unusable`, `home_in_use`. */
export async function takeHome(logDir: string | undefined): Promise<TakenHome> {
  const paths = prepareHome(logDir === undefined ? libraryHome() : absolute(logDir));
  const lock = await takeLockSoon(paths.lock);
  if (lock !== undefined) return { paths, lock };
  throw new ProcsupError("home_in_use", `Home "${paths.home}" is in use by another supervisor`);
}
