/** Counts failed sign-ins by address. */

import { type Clock, systemClock } from "../platform/clock.ts";

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 10_000;

/** Failed sign-ins in the last minute. */
export class SignInRateLimit {
  readonly #clock: Pick<Clock, "steady">;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Pick<Clock, "steady"> = systemClock) {
    this.#clock = clock;
  }

  /** Notes a failure. Returns the seconds to wait after too many, otherwise 0. */
  fail(address: string): number {
    const now = this.#clock.steady();
    const recent = (this.#failures.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
    // More failures do not extend the wait.
    if (recent.length < MAX_FAILURES) {
      this.#remember(address, [...recent, now]);
      return 0;
    }
    return Math.ceil((recent[0]! + WINDOW_MS - now) / 1000);
  }

  #remember(address: string, times: number[]): void {
    // Move it to the end, so that the address without failures for the longest time is dropped first.
    this.#failures.delete(address);
    this.#failures.set(address, times);
    if (this.#failures.size > MAX_ADDRESSES) {
      this.#failures.delete(this.#failures.keys().next().value!);
    }
  }
}
