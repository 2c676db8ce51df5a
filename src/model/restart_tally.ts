/** Counts automatic restarts per minute, in constant space. */

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** The restarts of the last hour, including this minute. Times are monotonic milliseconds. */
export class RestartTally {
  readonly #counts = new Uint32Array(MINUTES);
  /** The minute of the last access. */
  #minute = 0;

  add(count: number, at: number): void {
    this.#moveTo(at);
    this.#counts[this.#minute % MINUTES]! += count;
  }

  lastHour(now: number): number {
    this.#moveTo(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Clears the slots of the minutes since the last access. */
  #moveTo(at: number): void {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute - this.#minute >= MINUTES) this.#counts.fill(0);
    else for (let m = this.#minute + 1; m <= minute; m++) this.#counts[m % MINUTES] = 0;
    this.#minute = Math.max(this.#minute, minute);
  }
}
