/** Notices that a daemon has nothing to do any more. */

import { type Cancel, type Clock, systemClock } from "../platform/clock.ts";

/** Calls `act` once whenever nothing has happened for a while since something did. */
export class Quiet implements Disposable {
  readonly #afterMs: number;
  readonly #act: () => void;
  readonly #clock: Clock;
  #last = 0;
  #timer: Cancel | undefined;

  constructor(afterMs: number, act: () => void, clock: Clock = systemClock) {
    this.#afterMs = afterMs;
    this.#act = act;
    this.#clock = clock;
  }

  /** Something happens: costs next to nothing, however often. */
  touch(): void {
    this.#last = this.#clock.steady();
    this.#timer ??= this.#wait(this.#afterMs);
  }

  /** Notices nothing any more. */
  [Symbol.dispose](): void {
    this.#timer?.();
  }

  #wait(ms: number): Cancel {
    return this.#clock.after(ms, () => {
      const left = this.#last + this.#afterMs - this.#clock.steady();
      this.#timer = left > 0 ? this.#wait(left) : undefined;
      if (left <= 0) this.#act();
    });
  }
}
