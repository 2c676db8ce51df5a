/**
 * The connections of a listener. Closes stalled ones and, at the limit, one of the account with the
 * most connections.
 */

import type { Principal } from "../auth/gatekeeper.ts";
import { placeToFree } from "../auth/sessions.ts";

/** The part of a node:net `Socket` that is used here. */
export interface Connection {
  /** Bytes written that the peer has not taken. */
  readonly writableLength: number;
  /** Bytes written so far. */
  readonly bytesWritten: number;
  destroy(): unknown;
  destroySoon(): void;
  on(event: "close", act: () => void): unknown;
}

const LOOK_MS = 1000;
/** New connections cause a look, too, but not more often than this. */
const LOOK_AGAIN_MS = 100;

/** A peer that reads none of its waiting bytes for this long is disconnected. */
const PATIENCE_MS = 120_000;

/**
 * Maximum of waiting bytes of all connections, and of those of one token, or without one. Above it,
 * the largest are closed, of the account with the most.
 */
const MAX_WAITING = { all: 128 * 1024 * 1024, token: 32 * 1024 * 1024 };

/** Time for pending output when all connections are closed. */
const CLOSE_MS = 2000;

/** Bytes taken by the peer, and when they last changed. */
interface Progress {
  taken: number;
  at: number;
}

const accounts = new WeakMap<object, string>();

/** Notes the account of a connection after authentication. */
export function claim(connection: object | undefined, { account }: Principal): void {
  if (connection !== undefined) accounts.set(connection, `of ${account}`);
}

const UNKNOWN = "";
const OWNER = "of ";

function accountOf(connection: object): string {
  return accounts.get(connection) ?? UNKNOWN;
}

export class Connections {
  readonly #most: number;
  readonly #now: () => number;
  readonly #all = new Map<Connection, Progress>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #lookedAt = -Infinity;

  /** `most` is the maximum number of connections; `now` returns monotonic milliseconds. */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Adds a connection. At the limit, another one is closed. */
  add(connection: Connection): void {
    if (this.#all.size >= this.#most) this.#endOne();
    this.#all.set(connection, { taken: 0, at: this.#now() });
    this.#timer ??= setInterval(() => this.look(), LOOK_MS);
    connection.on("close", () => this.#remove(connection));
    if (this.#now() - this.#lookedAt >= LOOK_AGAIN_MS) this.look();
  }

  /** Closes stalled connections, and the largest ones if too much is waiting. */
  look(): void {
    const now = this.#lookedAt = this.#now();
    for (const [connection, progress] of this.#all) {
      const { writableLength, bytesWritten } = connection;
      const taken = bytesWritten - writableLength;
      if (writableLength === 0 || taken !== progress.taken) {
        Object.assign(progress, { taken, at: now });
      } else if (now - progress.at >= PATIENCE_MS) connection.destroy();
    }
    this.#closeLargest();
  }

  #closeLargest(): void {
    const all = [...this.#all.keys()].filter(({ writableLength }) => writableLength > 0);
    const accounts = [...Map.groupBy(all, accountOf)].map(([account, own]) => {
      return { account, own: own.sort((a, b) => a.writableLength - b.writableLength) };
    });
    const closeOne = (own: Connection[]) => own.pop()!.destroy();
    for (const { account, own } of accounts) {
      while (account !== OWNER && bytesOf(own) > MAX_WAITING.token) closeOne(own);
    }
    const sizes = () => accounts.map(({ own }) => bytesOf(own));
    for (let all = sizes(); sum(all) > MAX_WAITING.all; all = sizes()) {
      closeOne(accounts[all.indexOf(Math.max(...all))]!.own);
    }
  }

  /**
   * Closes all connections, after a moment for pending output. Those in `busy` close by themselves
   * once they are answered; they have `busyMs` for it.
   */
  async close(busy: ReadonlySet<Connection> = new Set(), busyMs = CLOSE_MS): Promise<void> {
    await Promise.all([...this.#all.keys()].map(async (connection) => {
      const closed = new Promise<void>((resolve) => connection.on("close", resolve));
      const isBusy = busy.has(connection);
      if (!isBusy) connection.destroySoon();
      const late = setTimeout(() => connection.destroy(), isBusy ? busyMs : CLOSE_MS);
      await closed;
      clearTimeout(late);
    }));
  }

  /** Closes half of the connections, largest accounts first, when no descriptors are left. */
  endHalf(): void {
    for (let count = Math.ceil(this.#all.size / 2); count > 0; count--) this.#endOne();
  }

  #endOne(): void {
    const all = [...this.#all.keys()];
    const owned = all.map((one) => [one, accountOf(one)] as const);
    // If no account has too many, close the oldest connection that has not authenticated.
    const one = placeToFree(owned, UNKNOWN) ?? all.find((one) => !accounts.has(one)) ?? all[0];
    if (one === undefined) return;
    // Forget it now: the close event comes later.
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

function bytesOf(connections: readonly Connection[]): number {
  return sum(connections.map(({ writableLength }) => writableLength));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
