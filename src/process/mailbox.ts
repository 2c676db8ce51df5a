/** An ordered queue of events, handled one at a time: an event posted by a handler waits its turn. */
export class Mailbox<E> {
  readonly #queue: E[] = [];
  readonly #handle: (event: E) => void;
  #busy = false;

  constructor(handle: (event: E) => void) {
    this.#handle = handle;
  }

  /** Handles the event before it returns, unless another one is being handled. */
  post(event: E): void {
    this.#queue.push(event);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        this.#handle(next);
      }
    } finally {
      this.#busy = false;
    }
  }
}
