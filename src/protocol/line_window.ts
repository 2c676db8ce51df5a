/** Puts the new lines of several logs in order of time, for clients that follow them. */

import { type LogName, type LogStart, positionKey } from "../model/log_line.ts";

/** How long new lines are held back, in milliseconds: logs are read one after the other. */
const WINDOW_MS = 500;
/** Maximum number of lines that are held back. More of them come at once. */
const MAX_HELD = 2000;

interface Timed extends LogName {
  /** ISO 8601, or milliseconds since the epoch. */
  readonly at: string | number;
}

interface Held<T> {
  readonly line: T;
  readonly due: number;
  readonly order: number;
}

/** Holds each line back for a short time. Lines of one log keep their order whatever the clock does. */
export class LineWindow<T extends Timed> {
  readonly #show: (lines: readonly T[]) => void;
  #held: Held<T>[] = [];
  #last = new Map<string, number>();
  #isMerged = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(show: (lines: readonly T[]) => void) {
    this.#show = show;
  }

  /** The stored lines have come, which are in order already. One log needs no window. */
  started({ positions }: LogStart): void {
    this.#isMerged = Object.values(positions).filter((position) => position > 0).length > 1;
  }

  add(lines: readonly T[]): void {
    if (!this.#isMerged) return this.#show(lines);
    const due = performance.now() + WINDOW_MS;
    for (const line of lines) {
      const key = positionKey(line);
      const order = Math.max(new Date(line.at).getTime(), this.#last.get(key) ?? -Infinity);
      this.#last.set(key, order);
      this.#held.push({ line, order, due });
    }
    if (this.#held.length > MAX_HELD) return this.end();
    this.#wait();
  }

  /** Shows all lines that are held back. */
  end(): void {
    this.#take(Infinity);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    const due = this.#held[0]?.due;
    if (due === undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#take(performance.now());
      this.#wait();
    }, due - performance.now());
  }

  /** Shows the lines that are due, and those that were written before them. */
  #take(now: number): void {
    const until = this.#held.reduce(
      (most, { due, order }) => due > now ? most : Math.max(most, order),
      -Infinity,
    );
    const taken = this.#held.filter(({ order }) => order <= until);
    if (taken.length === 0) return;
    this.#held = this.#held.filter(({ order }) => order > until);
    this.#show(taken.toSorted((one, other) => one.order - other.order).map(({ line }) => line));
  }
}
