/** The wanted lines of a log as a stream of bytes. */

import { lastEntries } from "./last_entries.ts";
import { type EntryOptions, LogEntries, type LogEntry } from "./log_entries.ts";

/** Most that is held of the last lines, in UTF-16 units. */
const MAX_LAST = 8 * 1024 * 1024;

/** Which lines, and for how long. */
export interface FilteredOptions extends EntryOptions {
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /** Aborted when nobody writes to it any more: what is followed ends at its end then. */
  readonly gone?: AbortSignal;
}

/** Streams the lines that pass, each with a newline; ends when the signal is aborted. */
export function filteredStream(
  path: string,
  options: FilteredOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { signal, gone } = options;
  const entries = new LogEntries(path, options);
  const lines = wantedLines(entries, options);
  const encoder = new TextEncoder();
  const stop = () => entries.stop();
  const finish = () => entries.finish();
  signal?.addEventListener("abort", stop);
  gone?.addEventListener("abort", finish);
  if (gone?.aborted) finish();
  if (signal?.aborted) stop();
  const unlisten = () => {
    signal?.removeEventListener("abort", stop);
    gone?.removeEventListener("abort", finish);
  };
  return new ReadableStream({
    async pull(controller) {
      const { value } = await lines.next().catch((error) => {
        unlisten();
        throw error;
      });
      const text = value?.map(({ line }) => `${line}\n`).join("");
      if (text !== undefined) return controller.enqueue(encoder.encode(text));
      unlisten();
      controller.close();
    },
    async cancel() {
      unlisten();
      stop();
      await lines.return(undefined);
    },
  }, { highWaterMark: 0 });
}

async function* wantedLines(
  entries: LogEntries,
  { tail = 0, follow: wanted = false, filter }: FilteredOptions,
): AsyncGenerator<readonly LogEntry[], undefined> {
  // What comes is later than any time that was meant.
  const follow = wanted && filter?.until === undefined;
  try {
    if (tail > 0) {
      const last = await lastEntries(entries, {
        ...{ count: tail, complete: !follow, maxChars: MAX_LAST },
      });
      if (last.length > 0) yield last;
    } else yield* entries.stored(!follow);
    if (follow) { for await (const { entries: come } of entries.coming()) yield come; }
  } finally {
    entries.close();
  }
}
