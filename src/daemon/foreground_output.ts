/** Prints the output of apps in the foreground: every line once, from their start to their end. */

import { logFeed, type LogSource } from "../logs/log_feed.ts";
import type { LogFiles } from "../logs/log_files.ts";
import { logEnd } from "../logs/log_position.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import { type LogLine, type LogStart, positionKey } from "../model/log_line.ts";
import { LogBatch } from "./log_batch.ts";
import { Batches } from "./log_batches.ts";

const STREAMS = ["stdout", "stderr"] as const;

export class ForegroundOutput {
  readonly #onLine: (line: LogLine) => void;
  /** End positions of the logs of earlier runs in the same home, by path. */
  readonly #earlier: ReadonlyMap<string, number>;
  readonly #positions: Record<string, number> = {};
  #sources: readonly LogSource[] = [];
  #following = async () => {};

  /** Create it before the apps start. `apps` is the folder of their logs. */
  constructor(apps: string, onLine: (line: LogLine) => void) {
    this.#onLine = onLine;
    this.#earlier = endsIn(apps);
  }

  /** Prints the output since the apps started, and follows it. */
  follow(supervisor: Supervisor): void {
    const processes = supervisor.registry.list();
    this.#sources = processes.map(({ name, logs }) => ({ name, files: logs }));
    for (const { logs, name, folder, journal } of processes) {
      for (const [index, stream] of STREAMS.entries()) {
        const inHome = logs[stream].startsWith(`${folder}/`);
        const from = inHome ? this.#earlier.get(logs[stream]) : journal.outputFrom?.[index];
        this.#positions[positionKey({ name, stream })] = from ?? 0;
      }
    }
    const reader = this.#feed(true).getReader();
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
        this.#onLine(line);
        this.#positions[positionKey(line)] = end;
      }
    }
  }
}

function endsIn(apps: string): Map<string, number> {
  const ends = new Map<string, number>();
  for (const { name } of Deno.readDirSync(apps)) {
    for (const stream of STREAMS satisfies readonly (keyof LogFiles)[]) {
      const path = `${apps}/${name}/${stream}.log`;
      try {
        ends.set(path, logEnd(path));
      } catch {
        // No such log yet.
      }
    }
  }
  return ends;
}
