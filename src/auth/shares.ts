/**
 * Shares of the accounts in something that is limited. The owner has its own, so that no token can
 * take what the owner needs; a token's sessions count for the token.
 */

import { ProcsupError } from "../model/errors.ts";

/** Maximum of the owner, of one token, and of all tokens together. */
export interface Most {
  readonly owner: number;
  readonly token: number;
  readonly tokens: number;
}

export class Shares {
  readonly #most: Most;
  readonly #taken = new Map<string, number>();

  constructor(most: Most) {
    this.#most = most;
  }

  /** What an account has; the owner's name is empty. */
  of(account: string): number {
    return this.#taken.get(account) ?? 0;
  }

  /** Whether an account may have that much more. */
  hasRoom(account: string, more = 1): boolean {
    const { owner, token, tokens } = this.#most;
    const own = this.of(account) + more;
    if (account === "") return own <= owner;
    const others = [...this.#taken].filter(([name]) => name !== "" && name !== account);
    const all = others.reduce((sum, [, taken]) => sum + taken, own);
    // Within a fair share: others must not keep a token out.
    const isFair = own <= Math.max(1, tokens / (others.length + 1));
    return own <= token && (all <= tokens || isFair);
  }

  change(account: string, by: number): void {
    const taken = this.of(account) + by;
    if (taken > 0) this.#taken.set(account, taken);
    else this.#taken.delete(account);
  }
}

/** Maximum number of requests of one account that wait. */
const MAX_WAITING = 256;

/** Lets a few works of tokens run at once; more wait, in order. Those of the owner do not wait. */
export class FairTurns {
  readonly #running: Shares;
  #waiting: { readonly account: string; readonly begin: () => void }[] = [];

  constructor(most: Omit<Most, "owner">) {
    this.#running = new Shares({ ...most, owner: Infinity });
  }

  /** Does a work when it is its turn. Throws `too_many_clients` if too much of the account waits. */
  async run<T>(account: string, work: () => T | Promise<T>): Promise<T> {
    if (account === "") return await work();
    await this.#take(account);
    try {
      return await work();
    } finally {
      this.#running.change(account, -1);
      this.#giveOn();
    }
  }

  async #take(account: string): Promise<void> {
    if (this.#running.hasRoom(account)) return this.#running.change(account, 1);
    const waiting = this.#waiting.filter((one) => one.account === account).length;
    if (waiting >= MAX_WAITING) {
      throw new ProcsupError("too_many_clients", `${waiting} requests of token "${account}" wait`, {
        hint: "Wait for the answers before you ask more",
      });
    }
    await new Promise<void>((begin) => this.#waiting.push({ account, begin }));
  }

  #giveOn(): void {
    const next = this.#waiting.find(({ account }) => this.#running.hasRoom(account));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#running.change(next.account, 1);
    next.begin();
  }
}
