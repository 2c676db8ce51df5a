/** Runs tasks one at a time, in order. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs a task after all earlier ones have ended, even if they failed. */
  take<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    this.#last = turn.then(() => {}, () => {});
    return turn;
  }
}
