/** How many automatic restarts there were lately: a number a minute, as small for one as for thousands. */

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** The restarts of the last hour, this minute included. Times are steady milliseconds. */
export class RestartTally {
  readonly #counts = new Uint32Array(MINUTES);
  /** The minute that was looked at last. */
  #minute = 0;

  /** Some happened. */
  add(count: number, at: number): void {
    this.#moveTo(at);
    this.#counts[this.#minute % MINUTES]! += count;
  }

  /** How many there were. */
  lastHour(now: number): number {
    this.#moveTo(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The places of the minutes that passed are those of an hour before. */
  #moveTo(at: number): void {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute - this.#minute >= MINUTES) this.#counts.fill(0);
    else for (let m = this.#minute + 1; m <= minute; m++) this.#counts[m % MINUTES] = 0;
    this.#minute = Math.max(this.#minute, minute);
  }
}
