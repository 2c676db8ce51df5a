/** Files in the home that clients of the daemon need: put back when they are removed or changed. */

import { messageOf } from "../model/errors.ts";
import { lstatIfAny } from "../platform/stat.ts";

/** One of them. */
export interface StandingFile {
  readonly path: string;
  /** Its name in the log. */
  readonly what: string;
  /** Puts it back. Returns false when it was as it should be. */
  readonly putBack: () => boolean | void;
}

/** Looks after them. A look costs one call of the system a file. */
export class StandingFiles {
  readonly #files: readonly StandingFile[];
  readonly #warn: (message: string) => void;
  readonly #marks = new Map<StandingFile, string>();
  readonly #failing = new Set<StandingFile>();

  /** Takes the files as they are now. One that is not there yet is put there by the next look. */
  constructor(files: readonly StandingFile[], warn: (message: string) => void) {
    this.#files = files;
    this.#warn = warn;
    for (const file of files) this.#marks.set(file, markOf(file.path));
  }

  /** Puts back what was removed or changed since the last look. */
  look(): void {
    for (const file of this.#files) {
      const mark = markOf(file.path);
      if (mark !== "" && mark === this.#marks.get(file)) continue;
      try {
        if (file.putBack() !== false) this.#warn(`The ${file.what} was removed: it is put back`);
        this.#marks.set(file, markOf(file.path));
        this.#failing.delete(file);
      } catch (error) {
        if (this.#failing.has(file)) continue;
        this.#failing.add(file);
        this.#warn(`Cannot put back the ${file.what}, will try again: ${messageOf(error)}`);
      }
    }
  }
}

/** Tells a file from another one in its place; empty when there is none. */
function markOf(path: string): string {
  const info = lstatIfAny(path);
  if (info === undefined) return "";
  return [info.dev, info.ino, info.mode, info.size, info.mtime?.getTime()].join(" ");
}
