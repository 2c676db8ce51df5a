/** One call for a burst of changes. */

import type { Cancel, Clock } from "../platform/clock.ts";

/** A burst that does not end is told after that many debounces, or `MIN_CAP_MS` if that is more. */
const CAP_DEBOUNCES = 10;

/** A checkout of many files goes on longer than ten short debounces. */
const MIN_CAP_MS = 5000;

/** Collects changes until it has been quiet for the debounce time. */
export class Burst {
  readonly #clock: Clock;
  readonly #debounceMs: number;
  readonly #over: (first: string) => void;
  #first: string | undefined;
  #since = 0;
  #cancel: Cancel = () => {};

  constructor(clock: Clock, debounceMs: number, over: (first: string) => void) {
    this.#clock = clock;
    this.#debounceMs = debounceMs;
    this.#over = over;
  }

  /** One more change. */
  add(path: string): void {
    const now = this.#clock.steady();
    if (this.#first === undefined) [this.#first, this.#since] = [path, now];
    const left = this.#since + Math.max(this.#debounceMs * CAP_DEBOUNCES, MIN_CAP_MS) - now;
    // It is due already: put off again and again it would never fire.
    if (left <= 0) return;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.min(this.#debounceMs, left), () => {
      const first = this.#first!;
      this.#first = undefined;
      this.#over(first);
    });
  }

  /** Forgets what it has collected. */
  stop(): void {
    this.#cancel();
    this.#first = undefined;
  }
}
