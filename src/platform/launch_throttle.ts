/**
 * Limits bursts of work that blocks, such as launches of a millisecond or more each: after a while
 * they are interrupted by pauses, in which the daemon serves other requests.
 */

import { sleep } from "./clock.ts";

/** Milliseconds until the first pause of a burst. */
const FIRST_MS = 100;

/** Milliseconds between its pauses. */
const PIECE_MS = 25;

/** Shorter pauses do not help: a busy event loop looks for connections only every 61st turn. */
const PAUSE_MS = 2;

/** Work after a longer gap begins a new burst. */
const GAP_MS = 25;

/** Limits one kind of work. */
export class LaunchThrottle {
  #leftMs = FIRST_MS;
  #endedAt = 0;
  #pause: Promise<void> | undefined;

  /** Undefined when more work may start now; else resolves when to check again. */
  get full(): Promise<void> | undefined {
    if (this.#pause !== undefined) return this.#pause;
    if (this.#leftMs > 0 || performance.now() - this.#endedAt > GAP_MS) return undefined;
    return this.#pause = sleep(PAUSE_MS).then(() => {
      this.#pause = undefined;
      this.#leftMs = PIECE_MS;
      // A busy loop may prolong the pause. That is not a gap.
      this.#endedAt = performance.now();
    });
  }

  /** Runs a piece of the work. */
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
      // The time between two pieces counts as well.
      this.#leftMs -= endedAt - this.#endedAt;
      this.#endedAt = endedAt;
    }
  }
}
