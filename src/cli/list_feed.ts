/** The list of apps, again and again: at once when something happened, and once an interval. */

import type { ProcessJson } from "../protocol/wire.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import type { DaemonClient } from "../protocol/daemon_client.ts";
import { following, unending } from "../protocol/following.ts";

/** Options and callbacks of the feed. */
export interface ListFeedOptions {
  readonly intervalMs: number;
  readonly onList: (processes: readonly ProcessJson[]) => void;
  /** No answer came; it is tried again. Throwing ends the feed. */
  readonly onLost: (error: unknown) => void;
  readonly onEvent?: (event: ChangeJson) => void;
}

/** What happens within this time after a list waits for the next one. */
const GAP_MS = 150;
const RETRY_MS = 500;

export class ListFeed {
  readonly #client: DaemonClient;
  readonly #options: ListFeedOptions;
  readonly #over = new AbortController();
  #wake = () => {};
  #woken = false;
  #listening = false;

  constructor(client: DaemonClient, options: ListFeedOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Runs until it is stopped. Rejects with what a callback throws. */
  async run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const list = await this.#ask();
      if (signal.aborted) return;
      if (list !== undefined) {
        this.#options.onList(list);
        if (!this.#listening) void this.#listen();
      }
      await this.#pause(list === undefined ? RETRY_MS : this.#options.intervalMs);
    }
  }

  /** Asks soon, before the interval is over. */
  refresh(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Ends it. */
  stop(): void {
    this.#over.abort();
    this.#wake();
  }

  async #ask(): Promise<readonly ProcessJson[] | undefined> {
    const { signal } = this.#over;
    try {
      return await this.#client.call("list", undefined, { signal });
    } catch (error) {
      if (!signal.aborted) this.#options.onLost(error);
      return undefined;
    }
  }

  /** Between two lists: never less than the gap, never longer than `ms`. */
  async #pause(ms: number): Promise<void> {
    await this.#sleep(Math.min(GAP_MS, ms), false);
    if (!this.#woken) await this.#sleep(ms - GAP_MS, true);
    this.#woken = false;
  }

  #sleep(ms: number, wakeful: boolean): Promise<void> {
    if (ms <= 0 || this.#over.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!wakeful && !this.#over.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Events of the daemon. The lists tell whether it is gone. */
  async #listen(): Promise<void> {
    this.#listening = true;
    const { signal } = this.#over;
    const events = following<ChangeJson>({
      open: async () => unending(await this.#client.stream("/events", signal)),
      // Covers events since the list was read, and the loss of a daemon.
      opened: () => this.refresh(),
      lost: () => this.refresh(),
      signal,
      forEver: true,
    });
    for await (const event of events) {
      this.#options.onEvent?.(event);
      this.refresh();
    }
  }
}
