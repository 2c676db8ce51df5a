/** The list of processes, built and serialized once for all clients that need it at the same time. */

import { USAGE_FIELDS } from "../protocol/process_json.ts";
import type { ProcessJson } from "../protocol/wire.ts";

/** Fields of the items of the `process_list` message. */
const ITEM_FIELDS = [
  "id",
  "numeric_id",
  "name",
  "runtime",
  "state",
  "pid",
  "exit_code",
  "restarts",
  ...USAGE_FIELDS,
] as const satisfies (keyof ProcessJson)[];

const encoder = new TextEncoder();

interface SnapshotOptions {
  readonly list: () => Promise<unknown>;
  /** Maximum age in milliseconds of a list without changes; 0 for a new one each time. */
  readonly maxAgeMs: number;
  /** Returns monotonic milliseconds. */
  readonly now?: () => number;
}

export class Snapshots {
  readonly #options: SnapshotOptions;
  readonly #now: () => number;
  #list: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #at = -Infinity;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Discards the cached list after a change. */
  invalidate(): void {
    this.#list = undefined;
  }

  /** The list as REST returns it, in UTF-8. */
  list(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#list !== undefined && this.#now() - this.#at < this.#options.maxAgeMs) {
      return this.#list;
    }
    this.#at = this.#now();
    const built = this.#build();
    // Do not cache a failure.
    built.catch(() => this.#list === built && this.invalidate());
    return this.#list = built;
  }

  async #build(): Promise<Uint8Array<ArrayBuffer>> {
    return encoder.encode(JSON.stringify(await this.#options.list()));
  }

  /** The `process_list` message of the WebSocket feed. */
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
