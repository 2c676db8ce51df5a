/** The connections of a listener: those that do not take what they asked for are not kept for ever. */

/** What there is to know of a connection; a `Socket` of node:net. */
export interface Connection {
  /** Bytes that the other side has not taken, a write under way included. */
  readonly writableLength: number;
  /** Bytes that were ever written. */
  readonly bytesWritten: number;
  destroy(): unknown;
  destroySoon(): void;
  on(event: "close", act: () => void): unknown;
}

/** How often they are looked at, while there are any. */
const LOOK_MS = 10_000;

/** How long the other side may take none of what waits for it: the largest answer on a slow line. */
const PATIENCE_MS = 120_000;

/** What may wait for all of them together, in bytes; those go first for which most waits. */
const MAX_WAITING = 128 * 1024 * 1024;

/** How far a connection had come when it was last seen to move. */
interface Progress {
  taken: number;
  at: number;
}

/** All connections of a listener. */
export class Connections {
  readonly #now: () => number;
  readonly #all = new Map<Connection, Progress>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `now` gives steady milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A new one. */
  add(connection: Connection): void {
    this.#all.set(connection, { taken: 0, at: this.#now() });
    this.#timer ??= setInterval(() => this.look(), LOOK_MS);
    connection.on("close", () => this.#remove(connection));
  }

  /** Ends those that stand still, and those for which too much waits. */
  look(): void {
    const now = this.#now();
    for (const [connection, progress] of this.#all) {
      const { writableLength, bytesWritten } = connection;
      const taken = bytesWritten - writableLength;
      if (writableLength === 0 || taken !== progress.taken) {
        Object.assign(progress, { taken, at: now });
      } else if (now - progress.at >= PATIENCE_MS) connection.destroy();
    }
    const all = [...this.#all.keys()].sort((a, b) => b.writableLength - a.writableLength);
    let waiting = all.reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (const connection of all) {
      if (waiting <= MAX_WAITING) return;
      waiting -= connection.writableLength;
      connection.destroy();
    }
  }

  /** Ends all, once what is on its way has gone out. */
  close(): void {
    for (const connection of this.#all.keys()) connection.destroySoon();
  }

  #remove(connection: Connection): void {
    this.#all.delete(connection);
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
