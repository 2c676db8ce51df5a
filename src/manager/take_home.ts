/** Takes the directory of a manager, which no other manager may use. */

import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { holderOf, type Lock, removeLock, takeLockSoon } from "../platform/files/lock.ts";
import { absolute, type HomePaths, libraryHome, prepareHome } from "../platform/files/paths.ts";
import { dirname } from "@std/path";
import { lstatIfAny } from "../platform/files/stat.ts";

/** Interval of checks of the directory and its state folder: a system call each. */
const LOOK_MS = 900;

/** After a change this recent, check again: a later one may have the same time. */
const TICK_MS = 1000;

/**
 * Maximum wait for the lock: another supervisor may hold it to check it, before it gives up, or, killed
 * on a busy machine, until the last of its threads has ended.
 */
const PATIENCE_MS = 1000;

/** Callbacks for checks of the directory. */
interface HomeEvents {
  /** A file in it was created or removed. The lock and the folders exist. */
  readonly changed: () => void;
  /** Another supervisor has taken the directory. The checks have ended. */
  readonly lost: () => void;
  readonly warn: (message: string) => void;
}

/** A directory that stays taken until this object is disposed of. */
export class TakenHome implements Disposable {
  readonly paths: HomePaths;
  #lock: Lock;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** State of the folders at the last check without problems. */
  #seen = "";
  #busy = false;
  #released = false;
  #problem = "";

  constructor(paths: HomePaths, lock: Lock) {
    this.paths = paths;
    this.#lock = lock;
  }

  /** Checks the directory from now on, and restores removed folders and a removed lock. */
  guard(events: HomeEvents): void {
    this.#timer = setInterval(() => this.#look(events), LOOK_MS);
    // Do not keep a program alive that uses the library.
    Deno.unrefTimer(this.#timer);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (!this.#released) this.#lock[Symbol.dispose]();
    this.#released = true;
  }

  #look(events: HomeEvents): void {
    const { home, records } = this.paths;
    // Other failures than a missing folder are reported by `#keep()`.
    const folders = [home, dirname(records)].map((path) => ifPossible(() => Deno.lstatSync(path)));
    const times = folders.map((folder) => folder?.mtime?.getTime() ?? 0);
    const mark = folders.map((folder, i) => `${folder?.dev} ${folder?.ino} ${times[i]}`).join();
    if (mark === this.#seen || this.#busy) return;
    this.#busy = true;
    void this.#keep(events).then((isKept) => {
      this.#busy = false;
      // A home that comes back as it was must be looked at, too.
      if (!isKept) this.#seen = "";
      else if (Math.abs(Date.now() - Math.max(...times)) > TICK_MS) this.#seen = mark;
    });
  }

  /** Restores removed folders and the lock. Resolves with false if that failed. */
  async #keep(events: HomeEvents): Promise<boolean> {
    try {
      prepareHome(this.paths.home);
      if (!this.#lock.isCurrent && !await this.#restoreLock(events)) return false;
      events.changed();
      this.#problem = "";
      return true;
    } catch (error) {
      const problem = `Cannot check home "${this.paths.home}": ${messageOf(error)}`;
      if (problem !== this.#problem) events.warn(problem);
      this.#problem = problem;
      return false;
    }
  }

  async #restoreLock({ lost, warn }: HomeEvents): Promise<boolean> {
    const { home, lock: path } = this.paths;
    const lock = await takeLockSoon(path, PATIENCE_MS);
    if (this.#released) {
      lock?.[Symbol.dispose]();
      return false;
    }
    if (lock === undefined) {
      clearInterval(this.#timer);
      warn(`The lock of home "${home}" was removed, and another supervisor has taken the home`);
      lost();
      return false;
    }
    this.#lock[Symbol.dispose]();
    this.#lock = lock;
    warn(`The lock of home "${home}" was removed: it is restored`);
    return true;
  }
}

/** Creates and takes the directory, or the library's own. Throws `home_unusable`, `home_in_use`. */
export async function takeHome(logDir: string | undefined): Promise<TakenHome> {
  const paths = prepareHome(logDir === undefined ? libraryHome() : absolute(logDir));
  const isNew = lstatIfAny(paths.lock) === undefined;
  const lock = await takeLockSoon(paths.lock, PATIENCE_MS);
  if (lock === undefined) throw inUse(paths, holderOf(paths.lock));
  const holder = isNew ? holderOf(paths.lock, true) : undefined;
  if (holder === undefined) return new TakenHome(paths, lock);
  removeLock(paths.lock, lock);
  throw inUse(paths, holder, ", whose lock was removed");
}

function inUse({ home }: HomePaths, pid: number | undefined, more = ""): ProcsupError {
  const by = pid === undefined ? "another supervisor" : `the supervisor with pid ${pid}`;
  return new ProcsupError("home_in_use", `Home "${home}" is in use by ${by}${more}`);
}
