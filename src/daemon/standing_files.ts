/** Restores removed or changed files in the home that clients need. */

import { messageOf } from "../model/errors.ts";
import { lstatIfAny } from "../platform/stat.ts";

interface StandingFile {
  readonly path: string;
  /** Its name in the log. */
  readonly what: string;
  /** Restores the file. Returns false if it was intact. */
  readonly putBack: () => boolean | void;
}

/** Checks the files, with one system call each. */
export class StandingFiles {
  readonly #files: readonly StandingFile[];
  readonly #warn: (message: string) => void;
  readonly #marks = new Map<StandingFile, string>();
  readonly #failing = new Set<StandingFile>();

  /** Remembers the state of the files. The next `look()` creates missing ones. */
  constructor(files: readonly StandingFile[], warn: (message: string) => void) {
    this.#files = files;
    this.#warn = warn;
    for (const file of files) this.#marks.set(file, markOf(file.path));
  }

  /** Restores files that were removed or changed since the last call. */
  look(): void {
    for (const file of this.#files) {
      const mark = markOf(file.path);
      if (mark !== "" && mark === this.#marks.get(file)) continue;
      try {
        if (file.putBack() !== false) this.#warn(`The ${file.what} was removed; it is restored`);
        this.#marks.set(file, markOf(file.path));
        this.#failing.delete(file);
      } catch (error) {
        if (this.#failing.has(file)) continue;
        this.#failing.add(file);
        this.#warn(`Cannot restore the ${file.what}, will try again: ${messageOf(error)}`);
      }
    }
  }
}

/** Identifies a file and its state; empty if it does not exist. */
function markOf(path: string): string {
  const info = lstatIfAny(path);
  if (info === undefined) return "";
  return [info.dev, info.ino, info.mode, info.size, info.mtime?.getTime()].join(" ");
}
