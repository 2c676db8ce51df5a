/**
 * Limits the open streams of each account. A stream that nobody reads holds what was read ahead for
 * it, and opening many at once takes the daemon's time.
 */

import type { Principal } from "../auth/gatekeeper.ts";
import { ProcsupError } from "../model/errors.ts";
import { endedBy } from "../protocol/shutdown_notice.ts";

/** Maximum of the owner, of one token with its sessions, and of all tokens together. */
const MOST = { owner: 512, token: 32, tokens: 128 };

export class StreamLimits {
  readonly #open = new Map<string, number>();

  /**
   * Opens a stream that counts for the sender until it ends. Throws `too_many_clients`, and what
   * `open` throws.
   */
  async open<T>(
    by: Pick<Principal, "account"> | undefined,
    open: () => ReadableStream<T> | Promise<ReadableStream<T>>,
  ): Promise<ReadableStream<T>> {
    if (by === undefined) return await open();
    const { account } = by;
    this.#refuseMore(account);
    this.#count(account, 1);
    const over = () => this.#count(account, -1);
    try {
      return endedBy(await open(), () => over);
    } catch (error) {
      over();
      throw error;
    }
  }

  #refuseMore(account: string): void {
    const own = this.#open.get(account) ?? 0;
    const tokens = [...this.#open].reduce((sum, [name, n]) => name === "" ? sum : sum + n, 0);
    const refuse = (who: string, count: number) => {
      throw new ProcsupError("too_many_clients", `${who} has ${count} streams open already`, {
        hint: "Close some; one stream can have the logs of several apps",
      });
    };
    if (account === "") return own < MOST.owner ? undefined : refuse("The owner", own);
    if (own >= MOST.token) refuse(`Token "${account}"`, own);
    // Fewer than its share: others must not keep a token out.
    const share = MOST.tokens / Math.max(1, this.#open.size);
    if (tokens >= MOST.tokens && own >= share) refuse(`Token "${account}"`, own);
  }

  #count(account: string, change: number): void {
    const count = (this.#open.get(account) ?? 0) + change;
    if (count > 0) this.#open.set(account, count);
    else this.#open.delete(account);
  }
}
