/** Makes one restart of a burst of changes. */

import type { Cancel, Clock } from "../../platform/clock.ts";

/** A burst that does not end is reported after this many debounces, or `MIN_CAP_MS` if longer. */
const CAP_DEBOUNCES = 10;

/** A checkout of many files takes longer than ten short debounces. */
const MIN_CAP_MS = 5000;

/** Maximum paths kept of a burst: in a larger one, some of them count anyway. */
const MAX_PATHS = 5000;

/** Collects changes until it has been quiet for the debounce time. */
export class Debouncer {
  readonly #clock: Clock;
  readonly #debounceMs: number;
  readonly #isChange: (path: string) => boolean;
  readonly #over: (first: string) => void;
  readonly #paths = new Set<string>();
  #since = 0;
  #cancel: Cancel = () => {};

  constructor(
    clock: Clock,
    debounceMs: number,
    isChange: (path: string) => boolean,
    over: (first: string) => void,
  ) {
    this.#clock = clock;
    this.#debounceMs = debounceMs;
    this.#isChange = isChange;
    this.#over = over;
  }

  /** Adds a path. At the end of the burst it is checked whether it changed. */
  add(path: string): void {
    const now = this.#clock.steady();
    if (this.#paths.size === 0) this.#since = now;
    if (this.#paths.size < MAX_PATHS) this.#paths.add(path);
    const left = this.#since + Math.max(this.#debounceMs * CAP_DEBOUNCES, MIN_CAP_MS) - now;
    // It is due already: postponed again and again it would never fire.
    if (left <= 0) return;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.min(this.#debounceMs, left), () => this.#end());
  }

  stop(): void {
    this.#cancel();
    this.#paths.clear();
  }

  #end(): void {
    const first = [...this.#paths].find(this.#isChange);
    this.#paths.clear();
    if (first !== undefined) this.#over(first);
  }
}
