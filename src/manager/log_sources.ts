/** The logs that targets address, also those of processes that come later, and their lines. */

import type { LineOptions, OutputLine } from "../library/options.ts";
import {
  type FeedForm,
  type FeedOptions,
  type LaterSources,
  logFeed,
  type LogSource,
} from "../logs/read/log_feed.ts";
import { parseLogFilter } from "../logs/read/log_filter.ts";
import type { LogSlice } from "../logs/read/merged_logs.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Registry } from "./registry.ts";

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

/** The logs of targets. Throws like `Registry.resolve()`. */
export function logSources(
  registry: Registry,
  targets: readonly string[],
  { end, byName = false, only }: SourceOptions,
): LogSources {
  const sourceOf = (process: ManagedProcess): LogSource => {
    return { name: process.name, files: process.logs, gone: process[end] };
  };
  const found = new Set(
    [...new Set(targets)].flatMap((target) => registry.resolve(target, undefined, only)),
  );
  const now = [...found].map(sourceOf);
  const names = new Set(byName ? now.map(({ name }) => name) : []);
  const watch: LaterSources["watch"] = (changes) => {
    const tests = targets.map((target) => registry.matcher(target, only));
    const isVisible = registry.matcher("all", only);
    return registry.watch((process, before) => {
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
  return { now, later: { watch, ...(stays && { until: registry.closed }) } };
}

const FORM: FeedForm<readonly OutputLine[]> = {
  async *stored(slices) {
    for await (const slice of slices) yield linesIn(slice);
  },
  arrived: linesIn,
};

/** Streams lines of processes. Throws `bad_request`, and like `Registry.resolve()`. */
export function outputLines(
  registry: Registry,
  target: string,
  { tail = 0, follow = false, newOnly = false, stream, signal, ...filter }: LineOptions,
): ReadableStream<OutputLine> {
  const options: FeedOptions = {
    ...{ lines: tail, follow, newOnly },
    streams: stream === undefined ? ["stdout", "stderr"] : [stream],
    filter: parseLogFilter(filter, Date.now()),
  };
  const { now, later } = logSources(registry, [target], { end: "gone" });
  return flattened(
    logFeed(now, options, FORM, later) as ReadableStream<readonly OutputLine[]>,
    signal,
  );
}

function linesIn({ of: { name, stream }, entries }: LogSlice): OutputLine[] {
  return entries.map(({ line, at, partial }) => {
    return { name, stream, line, at: new Date(at), ...(partial && { partial }) };
  });
}

/** Streams the items of lists, until a signal aborts it. */
function flattened<T>(
  lists: ReadableStream<readonly T[]>,
  signal: AbortSignal | undefined,
): ReadableStream<T> {
  const reader = lists.getReader();
  let left: T[] = [];
  const end = () => signal?.removeEventListener("abort", stop);
  const stop = () => {
    left = [];
    void reader.cancel().catch(() => {});
  };
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return new ReadableStream<T>({
    async pull(controller) {
      while (left.length === 0) {
        const { done, value } = await reader.read();
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
