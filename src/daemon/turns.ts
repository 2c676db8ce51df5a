/** Work that is done one piece at a time, in the order in which it came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Does a piece of work once those before it are over, failed ones included. */
  take<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    this.#last = turn.then(() => {}, () => {});
    return turn;
  }
}
