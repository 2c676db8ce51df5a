/** Queues messages for a client of the feed. */

/** UTF-8 or text. */
export type Message = string | Uint8Array<ArrayBuffer>;

/** Sends a message, and calls `done` when it is sent, or with the error. */
export type Write = (message: Message, done: (failure?: unknown) => void) => void;

/** While more bytes than this are being sent, further messages wait. */
const ENOUGH_UNDER_WAY = 2 * 1024;

/** Overhead of a waiting message in bytes, which matters for thousands of small ones. */
const BESIDE = 128;

/**
 * Passes messages on a few at a time. A socket's own queue copies each message and adds some
 * hundred bytes, which is too much with hundreds of slow clients. The messages waiting here are
 * shared by all clients.
 */
export class SocketOutbox {
  readonly #write: Write;
  #waiting: Message[] = [];
  #underWay = 0;
  #unsent = 0;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Cost of the messages that are not sent yet, in bytes (for text, UTF-16 units). */
  get unsent(): number {
    return this.#unsent;
  }

  send(message: Message): void {
    this.#unsent += costOf(message);
    this.#waiting.push(message);
    this.#handOn();
  }

  /** Passes on all waiting messages. */
  flush(): void {
    this.#handOn(Infinity);
  }

  #handOn(enough = ENOUGH_UNDER_WAY): void {
    while (this.#underWay <= enough && this.#waiting.length > 0) {
      const message = this.#waiting.shift()!;
      const cost = costOf(message);
      this.#underWay += cost;
      this.#write(message, (failure) => this.#done(cost, failure));
    }
  }

  #done(cost: number, failure: unknown): void {
    this.#underWay -= cost;
    this.#unsent -= cost;
    // The connection failed: drop the rest, since trying each message takes seconds for a hundred
    // clients.
    if (failure) this.#waiting = [];
    this.#handOn();
  }
}

function costOf({ length }: Message): number {
  return length + BESIDE;
}
