/** Writes that the disk refused: memory holds them, and they are tried again until they succeed. */

import { messageOf } from "../model/errors.ts";
import type { Cancel, Clock } from "../platform/clock.ts";

/** How often they are tried again. */
export const RETRY_MS = 1000;

/** The refused writes of a home. The timer runs only while there are any. */
export class RetriedWrites {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #due = new Map<string, () => void>();
  /** What is done once a refused write has succeeded. */
  readonly #then = new Map<string, (() => void)[]>();
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Writes now, or as soon as it can be. `what` names it in the log, and replaces its older write. */
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

  /** Writes as soon as it can be. `write` throws while it cannot. */
  later(what: string, write: () => void): void {
    if (this.#closed) return;
    this.#due.set(what, write);
    this.#cancel ??= this.#clock.after(RETRY_MS, () => this.#retry());
  }

  /** Acts once that write is not due any more: at once, unless it was refused. */
  after(what: string, act: () => void): void {
    if (this.#due.has(what)) this.#then.set(what, [...this.#then.get(what) ?? [], act]);
    else act();
  }

  /** The write is not due any more: it was done otherwise, or its subject is gone. */
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

  /** Writes nothing from now on. */
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
