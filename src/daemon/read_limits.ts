/**
 * Limits what each account reads at once. A stream that nobody reads holds what was read ahead for
 * it, and many costly requests at once keep the daemon from answering the owner.
 */

import type { Principal } from "../auth/gatekeeper.ts";
import { FairTurns, type Most, Shares } from "../auth/shares.ts";
import type { FeedLimits } from "../logs/read/log_feed.ts";
import { ProcsupError } from "../model/errors.ts";
import { endedBy } from "../protocol/shutdown_notice.ts";

type Account = Pick<Principal, "account"> | undefined;

const STREAMS: Most = { owner: 512, token: 32, tokens: 128 };
/** Logs that are followed: each takes memory and has open files. */
const FOLLOWED: Most = { owner: 4096, token: 2048, tokens: 3072 };
const AT_WORK: Omit<Most, "owner"> = { token: 2, tokens: 4 };

export class ReadLimits {
  readonly #streams = new Shares(STREAMS);
  readonly #followed = new Shares(FOLLOWED);
  readonly #turns = new FairTurns(AT_WORK);

  /** Does what reads much when it is the sender's turn. Throws like `FairTurns.run()`. */
  async turn<T>(by: Account, work: () => T | Promise<T>): Promise<T> {
    return await this.#turns.run(by?.account ?? "", work);
  }

  /**
   * Opens a stream that counts for the sender until it ends. Throws `too_many_clients`, and what
   * `open` throws.
   */
  async open<T>(
    by: Account,
    open: () => ReadableStream<T> | Promise<ReadableStream<T>>,
  ): Promise<ReadableStream<T>> {
    if (by === undefined) return await open();
    const { account } = by;
    if (!this.#streams.hasRoom(account)) {
      throw tooMany(account, `has ${this.#streams.of(account)} streams open already`, {
        hint: "Close some; one stream can have the logs of several apps",
      });
    }
    this.#streams.change(account, 1);
    const over = () => this.#streams.change(account, -1);
    try {
      return endedBy(await open(), () => over);
    } catch (error) {
      over();
      throw error;
    }
  }

  /** The limits of a feed of logs that the sender reads. */
  feed(by: Account): FeedLimits {
    const account = by?.account ?? "";
    return {
      claim: (count) => {
        const followed = this.#followed.of(account);
        if (!this.#followed.hasRoom(account, count)) {
          throw tooMany(account, `follows ${followed} logs already, and asks for ${count} more`, {
            hint: "Follow fewer processes at once",
          });
        }
        this.#followed.change(account, count);
      },
      release: (count) => this.#followed.change(account, -count),
      turn: (work) => this.turn(by, work),
    };
  }
}

function tooMany(account: string, what: string, options: { readonly hint: string }): ProcsupError {
  const who = account === "" ? "The owner" : `Token "${account}"`;
  return new ProcsupError("too_many_clients", `${who} ${what}`, options);
}
