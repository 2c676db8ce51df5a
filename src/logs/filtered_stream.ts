/** The wanted lines of a log as a stream of bytes. */

import { type EntryOptions, LogEntries, type LogEntry } from "./log_entries.ts";

/** Which lines, and for how long. */
export interface FilteredOptions extends EntryOptions {
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** Streams the lines that pass, each with a newline; ends when the signal is aborted. */
export function filteredStream(
  path: string,
  options: FilteredOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const entries = new LogEntries(path, options);
  const lines = wantedLines(entries, options);
  const encoder = new TextEncoder();
  const stop = () => entries.stop();
  options.signal?.addEventListener("abort", stop);
  if (options.signal?.aborted) stop();
  return new ReadableStream({
    async pull(controller) {
      const { value } = await lines.next();
      if (value !== undefined) return controller.enqueue(encoder.encode(`${value.line}\n`));
      options.signal?.removeEventListener("abort", stop);
      controller.close();
    },
    async cancel() {
      options.signal?.removeEventListener("abort", stop);
      stop();
      await lines.return(undefined);
    },
  }, { highWaterMark: 0 });
}

async function* wantedLines(
  entries: LogEntries,
  { tail = 0, follow: wanted = false, filter }: FilteredOptions,
): AsyncGenerator<LogEntry, undefined> {
  // What comes is later than any time that was meant.
  const follow = wanted && filter?.until === undefined;
  try {
    if (tail > 0) yield* await entries.last(tail, !follow);
    else yield* entries.stored(!follow);
    if (follow) yield* entries.coming();
  } finally {
    entries.close();
  }
}
