/** A clock that stands still until a test moves it. */

import type { Cancel, Clock } from "../../src/platform/clock.ts";

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/** A clock under a test's control. */
export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  #steady = 0;
  #jumpedMs = 0;

  /** Timers that have neither fired nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return Date.UTC(2026, 0, 1, 12) + this.#jumpedMs + this.#steady;
  }

  /** Sets the wall clock forward or back. The steady clock does not change. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
  }

  steady(): number {
    return this.#steady;
  }

  after(ms: number, act: () => void): Cancel {
    const timer = { at: this.#steady + ms, act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets `ms` milliseconds pass, and fires due timers in order of time. */
  advance(ms: number): void {
    const end = this.#steady + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#steady = Math.max(this.#steady, next.at);
      next.act();
    }
    this.#steady = end;
  }
}
