/** Fills a log view from the daemon: what there is, then what comes, again after a lost connection. */

import { effect, signal } from "@preact/signals";
import { messageOf, send } from "./api.ts";
import { jsonLines } from "./lines.ts";
import { breathe, type LogLine } from "./log_buffer.ts";
import { connection } from "./store.ts";
import type { LogLineJson } from "./types.ts";

/** What is read. */
export interface SourceOptions {
  /** Names; none for all. */
  readonly targets: readonly string[];
  /** Last lines of each; 0 for all there are, archives included. */
  readonly lines: number;
  /** Milliseconds since the epoch: lines from then on; 0 without. */
  readonly since: number;
  /** Only lines that match, or with `invert` do not. */
  readonly grep?: string | undefined;
  readonly invert?: boolean;
}

/** Where the lines go. */
export interface LogSink {
  add(lines: readonly Omit<LogLine, "seq">[]): void;
  clear(): void;
}

/** Lines that a view begins with. */
export const FIRST_LINES = 1000;

const RETRY_MS = 1000;

/** A log that is being read. */
export class LogSource {
  /** What went wrong; empty while all is well. */
  readonly error = signal("");
  /** Whether what was there is being read. */
  readonly isLoading = signal(true);
  readonly #sink: LogSink;
  readonly #options: SourceOptions;
  readonly #abort = new AbortController();

  constructor(sink: LogSink, options: SourceOptions) {
    this.#sink = sink;
    this.#options = options;
    void this.#run();
  }

  /** Reads no more. */
  close(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        this.#sink.clear();
        this.isLoading.value = true;
        if (this.#options.lines === 0) await this.#pour(false);
        await this.#pour(true);
      } catch (error) {
        if (signal.aborted) return;
        this.error.value = messageOf(error);
      }
      this.isLoading.value = false;
      await Promise.race([untilLive(signal), aborted(signal)]);
    }
  }

  async #pour(follow: boolean): Promise<void> {
    const { lines, since, targets, grep, invert = false } = this.#options;
    const query = new URLSearchParams(targets.map((name) => ["target", name]));
    query.set("lines", String(lines));
    if (grep !== undefined) query.set("grep", grep);
    if (grep !== undefined && invert) query.set("invert", "true");
    if (since > 0) query.set("since", new Date(since).toISOString());
    if (follow) query.set("follow", "true");
    if (follow && lines === 0) {
      query.delete("lines");
      query.delete("since");
      query.set("new", "true");
    }
    const response = await send(`/logs?${query}`, { signal: this.#abort.signal });
    this.error.value = "";
    let until = performance.now() + RETRY_MS / 100;
    const quiet = setTimeout(() => this.isLoading.value = false, 300);
    try {
      for await (const batch of jsonLines<LogLineJson>(response)) {
        this.#sink.add(batch.map(({ name, stream, line, at }) => ({
          name,
          stream,
          text: line,
          at: Date.parse(at),
        })));
        if (follow) this.isLoading.value = false;
        if (performance.now() < until) continue;
        await breathe();
        until = performance.now() + RETRY_MS / 100;
      }
    } finally {
      clearTimeout(quiet);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** When the daemon can be reached, after a moment's patience. */
async function untilLive(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  await new Promise<void>((resolve) => {
    const stop = effect(() => {
      if (connection.value === "live" || signal.aborted) queueMicrotask(() => (stop(), resolve()));
    });
  });
}
