/** An ordered queue of inputs, handled one at a time: an input posted by a handler waits its turn. */
export class Mailbox<E> {
  readonly #queue: E[] = [];
  readonly #handle: (input: E) => void;
  #busy = false;

  constructor(handle: (input: E) => void) {
    this.#handle = handle;
  }

  /** Handles the input before it returns, unless another one is being handled. */
  post(input: E): void {
    this.#queue.push(input);
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
