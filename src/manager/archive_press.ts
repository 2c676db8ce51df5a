/** Compresses archives one after the other, on a quarter of one core at most. */

import type { Archive } from "../logs/archives.ts";
import { compressArchive } from "../logs/compress.ts";
import { sleep } from "../platform/clock.ts";

/** Rest after work, as a multiple of it. */
const REST = 3;

/** A queue of archives. */
export class ArchivePress {
  #queue: Archive[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  /** Compresses an archive when its turn comes; one that is gone by then is none. */
  add(archive: Archive): void {
    if (this.#closed) return;
    this.#queue.push(archive);
    this.#working ??= this.#work().finally(() => this.#working = undefined);
  }

  /** Gives up what is not done; resolves when nothing is open any longer. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#queue = [];
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      // An archive that stays as it was is readable all the same: the next supervisor tries again.
      await compressArchive(next, (workedMs) => this.#rest(workedMs)).catch(() => {});
    }
  }

  #rest(workedMs: number): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("Closed"));
    return sleep(workedMs * REST);
  }
}
