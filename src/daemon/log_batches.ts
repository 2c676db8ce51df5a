/** Makes batches of what is read from logs. */

import type { Arrival, LogEntry } from "../logs/log_entries.ts";
import { LogBatch, type LogLine } from "./log_batch.ts";
import type { Reader, Stretch } from "./merged_logs.ts";

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
  async *of(stored: AsyncIterable<Stretch>): AsyncGenerator<LogBatch> {
    let lines: LogLine[] = [];
    let chars = 0;
    for await (const { of, entries } of stored) {
      for (const entry of entries) {
        lines.push(this.#line(entry, of));
        chars += entry.line.length;
        if (chars < MAX_CHARS) continue;
        yield new LogBatch(lines);
        lines = [];
        chars = 0;
      }
    }
    if (lines.length > 0) yield new LogBatch(lines);
  }

  /** What arrived, as the one batch of all who want the same of it. */
  arrived({ entries }: Arrival, of: Reader): LogBatch {
    const shared = this.#positions ? withPositions : withoutPositions;
    const known = shared.get(entries);
    if (known !== undefined) return known;
    const batch = new LogBatch(entries.map((entry) => this.#line(entry, of)));
    shared.set(entries, batch);
    return batch;
  }

  #line({ line, at, end }: LogEntry, { name, stream }: Reader): LogLine {
    const position = this.#positions ? { end } : {};
    return { name, stream, line, at: new Date(at).toISOString(), ...position };
  }
}
