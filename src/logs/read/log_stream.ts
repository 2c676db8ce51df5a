/** Streams the bytes of a log. */

import { ifPossible } from "../../model/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Begin, LogFollower } from "./log_follower.ts";
import { startOfTail } from "./log_tail.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface LogStreamOptions {
  /** Number of last lines to begin with; 0 or undefined for the whole log. */
  readonly tail?: number;
  /** Skip the content that exists. Without `follow` the stream is empty. */
  readonly newOnly?: boolean;
  /** Continue as the file grows, and wait for a missing file. */
  readonly follow?: boolean;
  /** Closes the stream without an error, like `cancel()`. */
  readonly signal?: AbortSignal | undefined;
  /** Abort it when no more output will come: a followed log then ends at its end. */
  readonly gone?: AbortSignal;
  /** Milliseconds between checks of a file that does not grow; default 200. */
  readonly pollMs?: number;
  readonly clock?: Clock;
}

/**
 * Streams a log byte for byte, in chunks of at most 64 KiB, on demand.
 *
 * Without `follow` it ends at the end that the file had when it was opened, and is empty without a
 * file. With it, rotated content is read once, a truncated file is read from its start, and a replaced
 * file is read to its end before its successor. Last lines that the file does not hold come from the
 * archives. Fails if the file cannot be read.
 */
export function logStream(
  path: string,
  options: LogStreamOptions = {},
): ReadableStream<Bytes> {
  const { follow = false, pollMs, clock, signal, gone } = options;
  const begin = beginOf(path, options);
  const source = new LogFollower(path, { follow, pollMs, clock, begin });
  let pulling: Promise<void> | undefined;
  let stopped = false;
  let onAbort = () => {};
  const finish = () => source.finish();
  const release = () => {
    gone?.removeEventListener("abort", finish);
    signal?.removeEventListener("abort", onAbort);
    source.close();
  };
  /** Resolves when all files are closed. */
  const stop = async () => {
    stopped = true;
    source.stop();
    // Do not close a file while it is being read.
    await pulling?.catch(() => {});
    release();
  };
  const deliver = async (controller: ReadableStreamDefaultController<Bytes>) => {
    let chunk: Bytes | undefined;
    try {
      chunk = await source.next();
    } catch (error) {
      release();
      if (!stopped) throw error;
    }
    // A canceled stream accepts no chunk.
    if (chunk !== undefined && !stopped) return controller.enqueue(chunk);
    release();
    // `cancel()` may have closed it.
    ifPossible(() => controller.close());
  };
  return new ReadableStream<Bytes>({
    start(controller) {
      onAbort = () => {
        if (!stopped) void stop().then(() => ifPossible(() => controller.close()));
      };
      if (gone?.aborted) finish();
      else gone?.addEventListener("abort", finish);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort);
    },
    pull: (controller) => pulling = deliver(controller).finally(() => pulling = undefined),
    cancel: stop,
  }, { highWaterMark: 0 });
}

function beginOf(path: string, { newOnly, tail = 0 }: LogStreamOptions): Begin {
  if (newOnly) return ({ end }) => end;
  if (tail === 0) return ({ base, from }) => Math.max(base, from);
  return (span, cursor) => startOfTail(path, cursor, span, tail, span.from);
}
