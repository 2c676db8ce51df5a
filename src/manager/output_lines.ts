/** Streams lines of logs as objects for the library, until the processes are removed. */

import { type FeedForm, type FeedOptions, logFeed } from "../logs/log_feed.ts";
import { parseLogFilter } from "../logs/log_filter.ts";
import type { LogSlice } from "../logs/merged_logs.ts";
import type { LineOptions, OutputLine } from "../library/options.ts";
import { logSources } from "./log_sources.ts";
import type { Registry } from "./registry.ts";

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
  const stop = () => void reader.cancel().catch(() => {});
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
