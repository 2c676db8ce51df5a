/** Makes batches of what is read from logs. */

import type { LogChunk, LogEntry } from "../logs/log_entries.ts";
import type { LogName } from "../model/log_line.ts";
import { LogBatch, type LogSlice } from "./log_batch.ts";

/** Enough for one batch, in UTF-16 units. */
const MAX_CHARS = 64 * 1024;

/** By what arrived, the batches of those who follow the same log. */
type Shared = WeakMap<readonly LogEntry[], LogBatch>;
const withPositions: Shared = new WeakMap();
const withoutPositions: Shared = new WeakMap();

/** The batches of one stream. */
export class Batches {
  readonly #positions: boolean;

  /** `positions`: every line tells where it ends. */
  constructor(positions: boolean) {
    this.#positions = positions;
  }

  /** What was there, in batches of some size. */
  async *of(stored: AsyncIterable<LogSlice>): AsyncGenerator<LogBatch> {
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

  /** What arrived, as the one batch of all who want the same of it. */
  arrived({ entries }: LogChunk, of: LogName): LogBatch {
    const shared = this.#positions ? withPositions : withoutPositions;
    const known = shared.get(entries);
    if (known !== undefined) return known;
    const batch = new LogBatch([{ of, entries }], this.#positions);
    shared.set(entries, batch);
    return batch;
  }
}
