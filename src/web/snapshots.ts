/** The list of processes, built and serialized once for all who want it at about the same time. */

import type { ProcessJson } from "../protocol/wire.ts";

/** Fields of an item of the `process_list` message, and no other. */
const ITEM_FIELDS = [
  "id",
  "numeric_id",
  "name",
  "runtime",
  "state",
  "pid",
  "exit_code",
  "restarts",
  "cpu_percent",
  "memory_bytes",
  "mem_percent",
  "threads",
  "fds",
  "uptime",
] as const satisfies (keyof ProcessJson)[];

const encoder = new TextEncoder();

/** Where the list comes from, and how long one may stand. */
export interface SnapshotOptions {
  readonly list: () => Promise<unknown>;
  /** Milliseconds that a list may be old when nothing is known to have changed; 0: always a new one. */
  readonly maxAgeMs: number;
  /** Steady milliseconds. */
  readonly now?: () => number;
}

/** Snapshots of the list. */
export class Snapshots {
  readonly #options: SnapshotOptions;
  readonly #now: () => number;
  #list: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #at = -Infinity;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Something changed: the cached texts are no longer used. */
  invalidate(): void {
    this.#list = undefined;
  }

  /** The list as REST gives it, as UTF-8. */
  list(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#list !== undefined && this.#now() - this.#at < this.#options.maxAgeMs) {
      return this.#list;
    }
    this.#at = this.#now();
    const built = this.#build();
    // A failure is not kept.
    built.catch(() => this.#list === built && this.invalidate());
    return this.#list = built;
  }

  async #build(): Promise<Uint8Array<ArrayBuffer>> {
    return encoder.encode(JSON.stringify(await this.#options.list()));
  }

  /** The `process_list` message of the WebSocket feed, as text. */
  async message(): Promise<string> {
    const processes = await this.#options.list() as ProcessJson[];
    return JSON.stringify({
      type: "process_list",
      processes: processes.map(itemOf),
      timestamp: Math.floor(Date.now() / 1000),
    });
  }
}

function itemOf(process: ProcessJson): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const field of ITEM_FIELDS) item[field] = process[field];
  return item;
}
