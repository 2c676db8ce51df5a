/** Polls the list of apps: soon after each event, and at least once an interval, `--interval`. */

import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import type { ChangeJson } from "../protocol/process_json.ts";
import type { DaemonClient } from "../protocol/daemon_client.ts";
import { following, unending } from "../protocol/streams.ts";
import type { ProcessJson } from "../protocol/wire.ts";

interface ListFeedOptions {
  readonly intervalMs: number;
  readonly onList: (processes: readonly ProcessJson[]) => void;
  /** The request failed and will be retried. Throwing ends the feed. */
  readonly onLost: (error: unknown) => void;
  readonly onEvent?: (event: ChangeJson) => void;
}

/** Minimum time between two lists. */
const GAP_MS = 150;
const RETRY_MS = 500;

export class ListFeed {
  readonly #client: DaemonClient;
  readonly #options: ListFeedOptions;
  readonly #over = new AbortController();
  /** Aborted to end a pause. */
  #woken = new AbortController();
  #listening = false;

  constructor(client: DaemonClient, options: ListFeedOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Runs until `stop()`. Rejects with the error that a callback throws. */
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

  /** Requests the list soon, before the interval is over. */
  refresh(): void {
    this.#woken.abort();
  }

  stop(): void {
    this.#over.abort();
    this.refresh();
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

  /** Waits between two lists: at least `GAP_MS`, at most `ms`. */
  async #pause(ms: number): Promise<void> {
    await sleep(GAP_MS, this.#over.signal);
    await sleep(ms - GAP_MS, this.#woken.signal);
    this.#woken = new AbortController();
  }

  /** Follows the events of the daemon. A lost daemon is reported by `onLost`. */
  async #listen(): Promise<void> {
    this.#listening = true;
    const { signal } = this.#over;
    const events = following<ChangeJson>({
      open: async () => unending(await this.#client.stream("/events", signal)),
      // Events may have been missed since the last list, or the daemon may be gone.
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

/** The daemon does not measure usage more often than this, and repeats its last figures. */
const LEAST_MS = 500;
const DEFAULT_MS = 1000;

/** `--interval` in milliseconds, one second by default. Throws `bad_request`. */
export function intervalOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MS;
  const ms = parseDuration(text);
  if (ms >= LEAST_MS && ms <= 3_600_000) return ms;
  throw new ProcsupError(
    "bad_request",
    `Invalid value "${text}" for --interval: expected ${LEAST_MS}ms to 1h`,
  );
}
