/** Fills a log view from the daemon: what there is, then what comes, again after a lost connection. */

import { effect, signal } from "@preact/signals";
import { ApiError, send } from "../data/api.ts";
import { breathe } from "./log_buffer.ts";
import type { LogRow } from "./log_rows.ts";
import { connection } from "../data/store.ts";
import type { LogLevel, LogLine } from "../../../../model/log_line.ts";

/** What is read. */
interface SourceOptions {
  /** Names; none for all. */
  readonly targets: readonly string[];
  /** Last lines of each; 0 for all there are, archives included. */
  readonly lines: number;
  /** Milliseconds since the epoch: lines from then on; 0 without. */
  readonly since: number;
  /** Only lines that match, or with `invert` do not. */
  readonly grep?: string | undefined;
  readonly invert?: boolean;
  /** Only lines of that level and graver ones; empty for all. */
  readonly level: LogLevel | "";
  /** Whether the view is at its end, so that nothing is lost by reading it anew. */
  readonly isAtEnd: () => boolean;
  /** The view is about to be read from the beginning. */
  readonly began: () => void;
}

/** Where the lines go. */
export interface LogSink {
  add(lines: readonly Omit<LogRow, "seq">[]): void;
  clear(): void;
}

/** Lines that a view begins with. */
export const FIRST_LINES = 1000;

const RETRY_MS = 1000;
/** A browser has six connections to a host for all its tabs: unseen ones must not hold them all. */
const UNSEEN_MS = 3000;

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
      const over = new AbortController();
      const unseen = this.#unseen(over.signal);
      try {
        this.#sink.clear();
        this.#options.began();
        this.isLoading.value = true;
        if (this.#options.lines === 0) await this.#pour(false, signal);
        await this.#pour(true, AbortSignal.any([signal, unseen]));
      } catch (error) {
        if (signal.aborted) return;
        if (!unseen.aborted) {
          this.error.value = error instanceof ApiError ? error.message : "The connection is lost";
        }
      } finally {
        over.abort();
      }
      this.isLoading.value = false;
      await Promise.race([unseen.aborted ? untilSeen() : untilLive(signal), aborted(signal)]);
    }
  }

  /** Aborted when nobody has seen the page for a while; reading all of a log again would take long. */
  #unseen(over: AbortSignal): AbortSignal {
    const { lines, isAtEnd } = this.#options;
    const unseen = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (!document.hidden || over.aborted || lines === 0) return;
      timer = setTimeout(() => isAtEnd() && unseen.abort(), UNSEEN_MS);
    };
    document.addEventListener("visibilitychange", look, { signal: over });
    over.addEventListener("abort", () => clearTimeout(timer));
    look();
    return unseen.signal;
  }

  async #pour(follow: boolean, signal: AbortSignal): Promise<void> {
    const { lines, since, targets, grep, invert = false, level } = this.#options;
    const query = new URLSearchParams(targets.map((name) => ["target", name]));
    query.set("lines", String(lines));
    if (grep !== undefined) query.set("grep", grep);
    if (level !== "") query.set("level", level);
    if (grep !== undefined && invert) query.set("invert", "true");
    if (since > 0) query.set("since", new Date(since).toISOString());
    if (follow) query.set("follow", "true");
    if (follow && lines === 0) {
      query.delete("lines");
      query.delete("since");
      query.set("new", "true");
    }
    const response = await send(`/logs?${query}`, { signal });
    this.error.value = "";
    let until = performance.now() + RETRY_MS / 100;
    const quiet = setTimeout(() => this.isLoading.value = false, 300);
    try {
      for await (const batch of jsonLines<LogLine>(response)) {
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

/** When somebody looks at the page. */
function untilSeen(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
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

/**
 * Hands over the values of a body in batches, one for each piece that arrives. Ends with the body;
 * throws when the connection breaks.
 */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      const values = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
      if (values.length > 0) yield values;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
