/** The directory of a manager, which it has alone. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { holderOfRemoved, type Lock, removeLock, takeLockSoon } from "../platform/lock.ts";
import { absolute, type HomePaths, libraryHome, prepareHome } from "../platform/paths.ts";
import { dirname } from "../npm/path.js";
import { lstatIfAny } from "../platform/stat.ts";

/** How often the directory and its state are looked at: a system call each. */
const LOOK_MS = 900;

/** A change so short ago may hide another one: the file system's clock ticks every few milliseconds. */
const TICK_MS = 1000;

/** How long another supervisor may hold the lock before it finds out about this one and gives up. */
const PATIENCE_MS = 1000;

/** What follows from a look at the directory. */
export interface HomeEvents {
  /** A file in it was made or removed. The lock and the folders are in their place. */
  readonly changed: () => void;
  /** Another supervisor has the directory now. No further look is taken. */
  readonly lost: () => void;
  readonly warn: (message: string) => void;
}

/** A directory that is taken until it is disposed of. */
export class TakenHome implements Disposable {
  readonly paths: HomePaths;
  #lock: Lock;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The directory and its state as they were when all was in its place. */
  #seen = "";
  #busy = false;
  #released = false;
  #problem = "";

  constructor(paths: HomePaths, lock: Lock) {
    this.paths = paths;
    this.#lock = lock;
  }

  /** Looks after the directory from now on: who removes a lock does not end what it stands for. */
  guard(events: HomeEvents): void {
    this.#timer = setInterval(() => this.#look(events), LOOK_MS);
    // A program that uses the library may end.
    Deno.unrefTimer(this.#timer);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (!this.#released) this.#lock[Symbol.dispose]();
    this.#released = true;
  }

  #look(events: HomeEvents): void {
    const { home, records } = this.paths;
    const folders = [home, dirname(records)].map(lstatIfAny);
    const times = folders.map((folder) => folder?.mtime?.getTime() ?? 0);
    const mark = folders.map((folder, i) => `${folder?.dev} ${folder?.ino} ${times[i]}`).join();
    if (mark === this.#seen || this.#busy) return;
    this.#busy = true;
    void this.#keep(events).then((isKept) => {
      this.#busy = false;
      if (isKept && Math.abs(Date.now() - Math.max(...times)) > TICK_MS) this.#seen = mark;
    });
  }

  /** Puts back what was removed; whether all is in its place. */
  async #keep(events: HomeEvents): Promise<boolean> {
    try {
      prepareHome(this.paths.home);
      if (!this.#lock.isCurrent && !await this.#restoreLock(events)) return false;
      events.changed();
      this.#problem = "";
      return true;
    } catch (error) {
      const problem = `Cannot look after home "${this.paths.home}": ${messageOf(error)}`;
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
    warn(`The lock of home "${home}" was removed: it is put back`);
    return true;
  }
}

/** Makes the directory, the library's own without one, and takes it. Throws `home_unusable`, `home_in_use`. */
export async function takeHome(logDir: string | undefined): Promise<TakenHome> {
  const paths = prepareHome(logDir === undefined ? libraryHome() : absolute(logDir));
  const isNew = lstatIfAny(paths.lock) === undefined;
  const lock = await takeLockSoon(paths.lock);
  if (lock === undefined) throw inUse(paths.home, "another supervisor");
  const holder = isNew ? holderOfRemoved(paths.lock) : undefined;
  if (holder === undefined) return new TakenHome(paths, lock);
  removeLock(paths.lock, lock);
  throw inUse(paths.home, `the supervisor with pid ${holder}, whose lock was removed`);
}

function inUse(home: string, by: string): ProcsupError {
  return new ProcsupError("home_in_use", `Home "${home}" is in use by ${by}`);
}
