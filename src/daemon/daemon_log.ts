/** The daemon's own log: JSON lines, capped in size. */

import { CappedFile } from "./capped_file.ts";

const MAX_BYTES = 5 * 1024 * 1024;

/**
 * The daemon's log. It does without a logging library: that would load `node:util`, 8 MB of memory in
 * every daemon.
 */
export class DaemonLog implements Disposable {
  readonly #file: CappedFile;

  constructor(path: string) {
    this.#file = new CappedFile(path, MAX_BYTES);
  }

  info(message: string): void {
    this.#write("info", message);
  }

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
