/** Groups log lines into batches. */

import type { LogEntry } from "../logs/log_entries.ts";
import type { FeedForm } from "../logs/log_feed.ts";
import type { LogSlice } from "../logs/merged_logs.ts";
import type { ProcsupError } from "../model/errors.ts";
import { LogBatch } from "./log_batch.ts";

/** Size of a batch, in UTF-16 units. */
const MAX_CHARS = 64 * 1024;

/** Batches by the entries they were made of, shared by all clients of a log. */
type Shared = WeakMap<readonly LogEntry[], LogBatch>;
const withPositions: Shared = new WeakMap();
const withoutPositions: Shared = new WeakMap();

/** The batches of one stream. */
export class Batches implements FeedForm<LogBatch> {
  readonly #positions: boolean;

  /** With `positions`, every line carries its end position. */
  constructor(positions: boolean) {
    this.#positions = positions;
  }

  /** Batches of stored lines. */
  async *stored(stored: AsyncIterable<LogSlice>): AsyncGenerator<LogBatch> {
    let slices: LogSlice[] = [];
    let chars = 0;
    for await (const slice of stored) {
      slices.push(slice);
      for (const { line } of slice.entries) chars += line.length;
      if (chars < MAX_CHARS) continue;
      yield new LogBatch(slices, this.#positions);
      slices = [];
      chars = 0;
    }
    if (slices.length > 0) yield new LogBatch(slices, this.#positions);
  }

  /** The batch for new lines, shared by all streams with the same format. */
  arrived(slice: LogSlice): LogBatch {
    const { entries } = slice;
    const shared = this.#positions ? withPositions : withoutPositions;
    const known = shared.get(entries);
    if (known !== undefined) return known;
    const batch = new LogBatch([slice], this.#positions);
    shared.set(entries, batch);
    return batch;
  }

  /** The last batch of a failed stream. If a stream ends without it, the daemon is gone. */
  failed(error: ProcsupError): LogBatch {
    return LogBatch.failed(error);
  }
}
