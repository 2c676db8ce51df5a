/** Prints the output of apps in the foreground: every line once, from their start to their end. */

import { ifPossible } from "../model/errors.ts";
import { logFeed, type LogSource } from "../logs/log_feed.ts";
import { logEnd } from "../logs/log_position.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import { type LogLine, type LogStart, positionKey } from "../model/log_line.ts";
import { Batches, LogBatch } from "./log_batch.ts";

const STREAMS = ["stdout", "stderr"] as const;

export class ForegroundOutput {
  readonly #onLine: (line: LogLine) => void;
  readonly #positions: Record<string, number> = {};
  readonly #failed = Promise.withResolvers<never>();
  #sources: readonly LogSource[] = [];
  #following = async () => {};

  constructor(onLine: (line: LogLine) => void) {
    this.#onLine = onLine;
  }

  /** Rejects when a line cannot be printed: the reader of the output is gone. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Prints all output of the apps. Call it before any of them starts. */
  follow(supervisor: Supervisor): void {
    this.#sources = supervisor.registry.list().map(({ name, logs }) => ({ name, files: logs }));
    for (const { name, files } of this.#sources) {
      for (const stream of STREAMS) {
        this.#positions[positionKey({ name, stream })] = endOf(files[stream]);
      }
    }
    const reader = this.#feed(true).getReader();
    // Lines that could not be read are printed at the end; `failed` tells of those not printed.
    const reading = this.#print(reader).catch(() => {});
    this.#following = async () => {
      await reader.cancel().catch(() => {});
      await reading;
    };
  }

  /** Prints the rest of the output after the apps have ended. */
  async finish(): Promise<void> {
    await this.#following();
    await this.#print(this.#feed(false).getReader());
  }

  #feed(follow: boolean): ReadableStream<LogBatch | LogStart> {
    const from = { ...this.#positions };
    return logFeed(this.#sources, { lines: 0, follow, streams: STREAMS, from }, new Batches(true));
  }

  async #print(reader: ReadableStreamDefaultReader<LogBatch | LogStart>): Promise<void> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!(next.value instanceof LogBatch)) continue;
      for (const { end = 0, ...line } of next.value.lines) {
        this.#printLine(line);
        this.#positions[positionKey(line)] = end;
      }
    }
  }

  #printLine(line: LogLine): void {
    try {
      this.#onLine(line);
    } catch (error) {
      this.#failed.reject(error);
      throw error;
    }
  }
}

function endOf(log: string): number {
  // Nothing was written yet.
  return ifPossible(() => logEnd(log)) ?? 0;
}
