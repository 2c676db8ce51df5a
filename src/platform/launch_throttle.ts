/**
 * Work that blocks, such as launches of a millisecond and more each, made in bursts: after some of it
 * the rest makes pauses, so that the daemon answers others meanwhile.
 */

import { sleep } from "./clock.ts";

/** Milliseconds that a burst may begin with. */
const FIRST_MS = 100;

/** And between its pauses. */
const PIECE_MS = 25;

/** Shorter ones do not do: while the loop is busy, it looks for connections every 61st turn only. */
const PAUSE_MS = 2;

/** What is further apart is another burst. */
const GAP_MS = 25;

/** One kind of work. */
export class LaunchThrottle {
  #leftMs = FIRST_MS;
  #endedAt = 0;
  #pause: Promise<void> | undefined;

  /** Undefined while there may be more; else resolves when it is to be asked again. */
  get full(): Promise<void> | undefined {
    if (this.#pause !== undefined) return this.#pause;
    if (this.#leftMs > 0 || performance.now() - this.#endedAt > GAP_MS) return undefined;
    return this.#pause = sleep(PAUSE_MS).then(() => {
      this.#pause = undefined;
      this.#leftMs = PIECE_MS;
      // A busy loop makes a pause long, which does not make it a gap.
      this.#endedAt = performance.now();
    });
  }

  /** Does a piece of the work. */
  work<T>(act: () => T): T {
    const begunAt = performance.now();
    if (begunAt - this.#endedAt > GAP_MS) {
      this.#leftMs = FIRST_MS;
      this.#endedAt = begunAt;
    }
    try {
      return act();
    } finally {
      const endedAt = performance.now();
      // What is prepared between two pieces counts as well.
      this.#leftMs -= endedAt - this.#endedAt;
      this.#endedAt = endedAt;
    }
  }
}
