/** Messages on their way to one client of the feed. */

/** What is sent: UTF-8, or text. */
export type Message = string | Uint8Array<ArrayBuffer>;

/** Sends a message, and calls `done` once it is on its way, or with why it cannot be any more. */
export type Write = (message: Message, done: (failure?: unknown) => void) => void;

/** While more bytes than these are under way, the rest waits. */
const ENOUGH_UNDER_WAY = 2 * 1024;

/** What a message that waits costs beside its bytes: some thousand small ones are no small thing. */
const BESIDE = 128;

/**
 * Hands on a little at a time. What a socket queues costs some hundred bytes beside each message, and a
 * copy of it: for hundreds of clients that are behind, that is most of all. What waits here is a list
 * of messages that all of them share.
 */
export class Outbox {
  readonly #write: Write;
  #waiting: Message[] = [];
  #underWay = 0;
  #unsent = 0;

  constructor(write: Write) {
    this.#write = write;
  }

  /** What is not on its way yet costs that many bytes (of text: UTF-16 units). */
  get unsent(): number {
    return this.#unsent;
  }

  /** Sends a message after those before it. */
  send(message: Message): void {
    this.#unsent += costOf(message);
    this.#waiting.push(message);
    this.#handOn();
  }

  /** Hands on all that waits. */
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
    // The rest cannot be delivered, and trying each message of a hundred clients takes seconds.
    if (failure) this.#waiting = [];
    this.#handOn();
  }
}

function costOf({ length }: Message): number {
  return length + BESIDE;
}
