/** The daemon's own log: JSON lines, capped in size. */

import { CappedFile } from "./capped_file.ts";

const MAX_BYTES = 5 * 1024 * 1024;

/**
 * What the daemon says about itself. By hand: the logging library brings `node:util` with it, which is
 * 8 MB of memory in every daemon for a dozen lines a day.
 */
export class DaemonLog implements Disposable {
  readonly #file: CappedFile;

  constructor(path: string) {
    this.#file = new CappedFile(path, MAX_BYTES);
  }

  /** What it does. */
  info(message: string): void {
    this.#write("info", message);
  }

  /** What somebody should look at. */
  warn(message: string): void {
    this.#write("warning", message);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #write(level: string, message: string): void {
    this.#file.append({ at: new Date().toISOString(), level, message });
  }
}
