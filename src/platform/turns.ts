/** Runs tasks one at a time, in order: all of them, or those of the same key. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Whether a task of a key runs or waits. */
  isTaken(key: string): boolean {
    return this.#last.has(key);
  }

  /** Runs a task after all earlier ones of its key have ended, even if they failed. */
  take<T>(act: () => Promise<T>, key = ""): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#last.set(key, turn);
    const forget = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  }
}
