/** Loads stored lines, then follows the log. Starts again after a lost connection. */

import { effect, type Signal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { readLogs } from "../data/feed_socket.ts";
import { range } from "../data/router.ts";
import { breathe, type LogReceiver } from "./log_buffer.ts";
import { filterOf, type LogQuery } from "./log_query.ts";
import { connection } from "../data/store.ts";
import { sleep } from "../../../../platform/clock.ts";
import type { LogLine, LogPositions, LogStart } from "../../../../model/log_line.ts";
import type { LogRequest } from "../../../../protocol/wire.ts";

interface SourceOptions {
  /** Names; empty for all. */
  readonly targets: readonly string[];
  /** Number of last lines of each; 0 for all, including archives. */
  readonly lines: number;
  /** Only a fixed range, in milliseconds since the epoch, without following. */
  readonly between?: readonly [number, number] | undefined;
  /** The result of `filterOf()`. */
  readonly filter: ReturnType<typeof filterOf>;
  /** Called before the view is filled from the beginning. */
  readonly began: () => void;
}

/** Number of lines in a new view. */
export const FIRST_LINES = 1000;

/** Maximum number of lines of a fixed range. */
const MOST_LINES = 20_000;

const RETRY_MS = 1000;
/** Maximum time without letting the page work. */
const TURN_MS = 10;

export class OpenLog {
  /** The current error; empty if none. */
  readonly error = signal("");
  /** True while stored lines are being loaded. */
  readonly isLoading = signal(true);
  /** True if the range has more lines than are shown. */
  readonly isCut = signal(false);
  readonly #sink: LogReceiver;
  readonly #options: SourceOptions;
  readonly #abort = new AbortController();
  /** True until the first answer of a new stream: the view shows the lines of the one before. */
  #isStale = true;

  constructor(sink: LogReceiver, options: SourceOptions) {
    this.#sink = sink;
    this.#options = options;
    void this.#run();
  }

  close(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { between, lines } = this.#options;
    /** `ended`: without an error, since all of its processes are deleted. */
    let before: "nothing" | "begun" | "ended" = "nothing";
    while (!signal.aborted) {
      try {
        await untilLive(signal);
        if (signal.aborted) return;
        this.#isStale = true;
        if (before === "nothing") this.#refresh();
        this.isLoading.value = true;
        const isStored = between !== undefined || lines === 0;
        const positions = isStored ? await this.#readStored(signal) : undefined;
        this.isLoading.value = between === undefined;
        if (between !== undefined) return;
        const items = await readLogs({ ...this.#query(true), from: positions }, signal);
        await this.#pour(linesIn(items), true);
        before = "ended";
      } catch (error) {
        if (signal.aborted) return;
        const isGone = before === "ended" && error instanceof ApiError &&
          error.code === "process_not_found";
        before = "begun";
        this.error.value = isGone
          ? "Deleted: these were its last lines"
          : error instanceof ApiError
          ? error.message
          : "The connection is lost";
        if (error instanceof ApiError && isFinal(error)) break;
      }
      this.isLoading.value = false;
      await sleep(RETRY_MS, signal);
    }
    this.isLoading.value = false;
  }

  /** Returns the positions at which the lines end. */
  async #readStored(signal: AbortSignal): Promise<LogPositions | undefined> {
    const enough = new AbortController();
    const both = AbortSignal.any([signal, enough.signal]);
    const stored = await readLogs(this.#query(false), both);
    let positions: LogPositions | undefined;
    const lines = linesIn(stored, (start) => positions = start.positions);
    const isWhole = await this.#pour(lines, false);
    this.isCut.value = !isWhole;
    enough.abort();
    return positions;
  }

  #query(follow: boolean): LogRequest {
    const { lines, between, targets, filter } = this.#options;
    return {
      ...filter,
      ...(targets.length > 0 && { target: [...targets] }),
      ...(follow && { follow: true }),
      ...(follow && lines === 0 ? { new: true } : { lines: between === undefined ? lines : 0 }),
      ...(!follow && between === undefined && { positions: true }),
      ...(between !== undefined && {
        since: new Date(between[0]).toISOString(),
        until: new Date(between[1]).toISOString(),
      }),
    };
  }

  /** Empties the view for a stream that has begun. One that is refused leaves it as it was. */
  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#sink.clear();
    this.#options.began();
  }

  /** Adds batches to the view. Returns false if there are more than `MOST_LINES` in a range. */
  async #pour(batches: AsyncIterable<readonly LogLine[]>, follow: boolean): Promise<boolean> {
    this.error.value = "";
    let until = performance.now() + TURN_MS;
    let count = 0;
    const quiet = follow
      ? setTimeout(() => {
        this.#refresh();
        this.isLoading.value = false;
      }, 300)
      : undefined;
    try {
      for await (const batch of batches) {
        this.#refresh();
        this.#sink.add(batch.map(({ name, stream, line, at }) => (
          { name, stream, text: line, at: Date.parse(at) }
        )));
        if (follow) this.isLoading.value = false;
        count += batch.length;
        if (this.#options.between !== undefined && count > MOST_LINES) return false;
        if (performance.now() < until) continue;
        await breathe();
        until = performance.now() + TURN_MS;
      }
      this.#refresh();
      return true;
    } finally {
      clearTimeout(quiet);
    }
  }
}

async function* linesIn(
  items: AsyncIterable<readonly (LogLine | LogStart)[]>,
  started: (start: LogStart) => void = () => {},
): AsyncGenerator<readonly LogLine[]> {
  for await (const batch of items) {
    batch.filter((item) => "positions" in item).forEach(started);
    yield batch.filter((item) => "line" in item);
  }
}

/** Resolves when the daemon is connected, or on abort. */
function untilLive(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (connection.value === "live" || signal.aborted) queueMicrotask(() => (stop(), resolve()));
    });
    signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
  });
}

/** True if a retry would fail again. 401, 408 and 429 are worth a retry. */
function isFinal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}

/** Time read before a selected moment, in milliseconds. */
const CONTEXT_MS = 30_000;
/** Delay while typing: each search reads the full log. */
const TYPING_MS = 300;

/** Reads logs into the panes. `lines` is the number for each app, 0 for all. */
export function useLogSource(
  panes: LogReceiver,
  query: LogQuery,
  lines: number,
  follow: Signal<boolean>,
): OpenLog | undefined {
  const source = useSignal<OpenLog | undefined>(undefined);
  const filter = filterOf(query);
  const isSearch = filter.grep !== undefined;
  const { span, from, to, at } = range.value;
  const begin = at > 0 && !isSearch ? Math.max(from, at - CONTEXT_MS) : from;
  useEffect(() => {
    let opened: OpenLog | undefined;
    const open = () => {
      opened = new OpenLog(panes, {
        targets: query.targets,
        lines: isSearch ? 0 : lines,
        between: span === undefined ? [begin, to] : undefined,
        filter,
        // Start at the end, except for a fixed range or a full log.
        began: () => follow.value = span !== undefined && lines > 0,
      });
      source.value = opened;
    };
    const timer = isSearch ? setTimeout(open, TYPING_MS) : undefined;
    if (!isSearch) open();
    return () => (clearTimeout(timer), opened?.close());
  }, [
    panes,
    lines,
    span === undefined ? `${begin} ${to}` : "",
    JSON.stringify(filter),
  ]);
  return source.value;
}
