/** The logs that targets address, also those of processes that come later, and their lines. */

import type { LineOptions, OutputLine } from "../library/options.ts";
import {
  type FeedForm,
  type LaterSources,
  logFeed,
  type LogQuery,
  type LogSource,
} from "../logs/read/log_feed.ts";
import type { LogFilter } from "../logs/read/log_filter.ts";
import { parseLogFilter } from "../logs/read/log_filter.ts";
import type { LogSlice } from "../logs/read/merged_logs.ts";
import { ifPossible } from "../model/errors.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Directory } from "./app_directory.ts";

interface SourceOptions {
  /** Signal of a process that ends its followed log. */
  readonly end: "deleted" | "gone";
  /** Continue with later processes of the same names, whatever the target. */
  readonly byName?: boolean;
  /** The processes that exist for the reader, see `isWithin()`; undefined for all. */
  readonly only?: readonly string[] | undefined;
}

export interface LogSources {
  readonly now: readonly LogSource[];
  readonly later: LaterSources;
}

/** The logs of targets. Throws like `AppDirectory.resolve()`. */
export function logSources(
  directory: Directory,
  targets: readonly string[],
  { end, byName = false, only }: SourceOptions,
): LogSources {
  const sourceOf = (process: ManagedProcess): LogSource => {
    return { name: process.name, files: process.logs, gone: process[end] };
  };
  const found = new Set(
    [...new Set(targets)].flatMap((target) => directory.resolve(target, undefined, only)),
  );
  const now = [...found].map(sourceOf);
  const names = new Set(byName ? now.map(({ name }) => name) : []);
  const watch: LaterSources["watch"] = (changes) => {
    const tests = targets.map((target) => directory.matcher(target, only));
    const isVisible = directory.matcher("all", only);
    return directory.watch((process, before) => {
      if (before !== undefined) changes.renamed(before, sourceOf(process));
      else if (
        isVisible(process) &&
        (names.has(process.name) || tests.some((matches) => matches(process)))
      ) {
        changes.added(sourceOf(process));
      }
    });
  };
  const stays = byName || targets.includes("all");
  return { now, later: { watch, ...(stays && { until: directory.closed }) } };
}

/** The form of feeds that have no `LogStart`, as lists of items. */
function lists<T>(itemsOf: (slice: LogSlice) => readonly T[]): FeedForm<readonly T[]> {
  return {
    async *stored(slices) {
      for await (const slice of slices) yield itemsOf(slice);
    },
    arrived: itemsOf,
  };
}

/** Streams lines of processes. Throws `bad_request`, and like `AppDirectory.resolve()`. */
export function outputLines(
  directory: Directory,
  target: string,
  { tail = 0, follow = false, newOnly = false, stream, signal, ...filter }: LineOptions,
): ReadableStream<OutputLine> {
  const query: LogQuery = {
    ...{ lines: tail, follow, newOnly },
    streams: stream === undefined ? ["stdout", "stderr"] : [stream],
    filter: parseLogFilter(filter, Date.now()),
  };
  const { now, later } = logSources(directory, [target], { end: "gone" });
  const form = lists(({ of: { name, stream }, entries }) =>
    entries.map(({ line, at, partial }): OutputLine => {
      return { name, stream, line, at: new Date(at), ...(partial && { partial }) };
    })
  );
  return flattened(
    logFeed(now, query, form, later) as ReadableStream<readonly OutputLine[]>,
    signal,
  );
}

/** Streams the lines of one log that pass a filter, each with a newline. */
export function filteredBytes(
  { name, logs: files, gone }: Pick<ManagedProcess, "name" | "logs" | "gone">,
  { tail = 0, follow = false, stderr = false, signal, filter }: {
    readonly tail?: number;
    readonly follow?: boolean;
    readonly stderr?: boolean;
    readonly signal?: AbortSignal | undefined;
    readonly filter: LogFilter;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const form = lists(({ entries }) => [
    encoder.encode(entries.map(({ line }) => `${line}\n`).join("")),
  ]);
  const query: LogQuery = {
    ...{ lines: tail, filter, streams: [stderr ? "stderr" : "stdout"] },
    // New lines are later than any `until`.
    follow: follow && filter.until === undefined,
  };
  return flattened(
    logFeed([{ name, files, gone }], query, form) as ReadableStream<Uint8Array<ArrayBuffer>[]>,
    signal,
  );
}

/** Streams the items of lists, until a signal aborts it. */
function flattened<T>(
  lists: ReadableStream<readonly T[]>,
  signal: AbortSignal | undefined,
): ReadableStream<T> {
  const reader = lists.getReader();
  let left: T[] = [];
  let stop = () => {};
  const end = () => signal?.removeEventListener("abort", stop);
  return new ReadableStream<T>({
    start(controller) {
      stop = () => {
        left = [];
        void reader.cancel().catch(() => {});
        // A cancelled stream is closed.
        ifPossible(() => controller.close());
      };
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop);
    },
    async pull(controller) {
      while (left.length === 0) {
        const { done, value } = await reader.read();
        if (signal?.aborted) return;
        if (done) {
          end();
          return controller.close();
        }
        left = value.toReversed();
      }
      controller.enqueue(left.pop()!);
    },
    async cancel() {
      end();
      await reader.cancel();
    },
  }, { highWaterMark: 0 });
}
