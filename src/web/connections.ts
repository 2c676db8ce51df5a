/**
 * The connections of a listener: those that do not take what they asked for are not kept for ever, and
 * when there are too many, those go first that have the most.
 */

import type { Principal } from "../auth/principal.ts";
import { placeToFree } from "./shares.ts";

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

/** How long what is on its way may take when all are closed. */
const CLOSE_MS = 2000;

/** How far a connection had come when it was last seen to move. */
interface Progress {
  taken: number;
  at: number;
}

/** Whose connection it is; of the others nothing is known yet. */
const accounts = new WeakMap<object, string>();

/** Notes whose connection it is, once that is known. */
export function claim(connection: object | undefined, { account }: Principal): void {
  if (connection !== undefined) accounts.set(connection, `of ${account}`);
}

const UNKNOWN = "";

/** All connections of a listener. */
export class Connections {
  readonly #most: number;
  readonly #now: () => number;
  readonly #all = new Map<Connection, Progress>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `most`: how many there may be; `now` gives steady milliseconds. */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** A new one. Another one is ended for it when there are too many. */
  add(connection: Connection): void {
    if (this.#all.size >= this.#most) this.#endOne();
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

  /** Ends all, once what is on its way has gone out, for which there is a moment. */
  async close(): Promise<void> {
    const all = [...this.#all.keys()];
    const closed = all.map((one) => new Promise<void>((resolve) => one.on("close", resolve)));
    for (const connection of all) connection.destroySoon();
    const late = setTimeout(() => all.forEach((one) => one.destroy()), CLOSE_MS);
    await Promise.all(closed);
    clearTimeout(late);
  }

  /** Ends half of them, those first that have the most: there is no descriptor left. */
  endHalf(): void {
    for (let count = Math.ceil(this.#all.size / 2); count > 0; count--) this.#endOne();
  }

  #endOne(): void {
    const all = [...this.#all.keys()];
    const owned = all.map((one) => [one, accounts.get(one) ?? UNKNOWN] as const);
    // Those who have not said who they are give way to one another.
    const one = placeToFree(owned, UNKNOWN) ?? all.find((one) => !accounts.has(one)) ?? all[0];
    if (one === undefined) return;
    // It closes a moment later.
    this.#remove(one);
    one.destroy();
  }

  #remove(connection: Connection): void {
    this.#all.delete(connection);
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
