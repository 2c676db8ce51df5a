/** Retries failed writes until they succeed. */

import { messageOf } from "../../model/errors.ts";
import type { Cancel, Clock } from "../clock.ts";

export const RETRY_MS = 1000;

/** The failed writes of a home. The timer runs only while there are any. */
export class RetriedWrites {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #due = new Map<string, () => void>();
  /** Callbacks for when a failed write has succeeded. */
  readonly #then = new Map<string, (() => void)[]>();
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Writes now, or retries on failure. A new write replaces a pending one with the same `what`. */
  attempt(what: string, write: () => void): void {
    if (this.#closed) return;
    const wasDue = this.#due.has(what);
    try {
      write();
      this.drop(what);
    } catch (error) {
      if (!wasDue) this.#warn(`Cannot write ${what}, will try again: ${messageOf(error)}`);
      this.later(what, write);
    }
  }

  /** Writes at the next retry. `write` throws on failure. */
  later(what: string, write: () => void): void {
    if (this.#closed) return;
    this.#due.set(what, write);
    this.#cancel ??= this.#clock.after(RETRY_MS, () => this.#retry());
  }

  /** Calls `act` once the write is no longer pending: at once if it is not. */
  after(what: string, act: () => void): void {
    if (this.#due.has(what)) this.#then.set(what, [...this.#then.get(what) ?? [], act]);
    else act();
  }

  /** Cancels a pending write that was done otherwise, or is no longer needed. */
  drop(what: string): void {
    this.#due.delete(what);
    const acts = this.#then.get(what) ?? [];
    this.#then.delete(what);
    for (const act of acts) act();
  }

  /** Tries for the last time. */
  close(): void {
    this.#closed = true;
    this.#retry();
  }

  /** Drops all pending writes and accepts no more. */
  abandon(): void {
    this.#due.clear();
    this.close();
  }

  #retry(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const [what, write] of [...this.#due]) {
      this.#due.delete(what);
      try {
        write();
        this.drop(what);
      } catch {
        this.later(what, write);
      }
    }
  }
}
