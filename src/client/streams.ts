/** The streams of a daemon as those of a program: typed items, an end by a signal, errors. */

import type { CallOptions } from "../library/options.ts";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import type { ShutdownNoticeJson } from "../protocol/process_json.ts";
import { ndjson } from "../protocol/streams.ts";
import { inLibraryWords } from "../library/words.ts";

/** How a stream is opened and ends. */
interface ItemsOptions<W, T> extends CallOptions {
  /** True for an endless stream: if it ends, the daemon has gone away. */
  readonly forEver: boolean;
  /** Converts an item for the program. */
  readonly read: (item: W) => T;
}

/**
 * Opens a stream. It ends without an error when the signal aborts, and fails with `closed` if the
 * daemon goes away. Cancel it, or leave a `for await`, to stop it.
 */
export async function openItems<W, T>(
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>,
  { signal, forEver, read }: ItemsOptions<W, T>,
): Promise<ReadableStream<T>> {
  const over = new AbortController();
  const abort = () => over.abort(signal!.reason);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", abort);
  const end = () => signal?.removeEventListener("abort", abort);
  let bytes: ReadableStream<Uint8Array>;
  try {
    bytes = await open(over.signal);
  } catch (error) {
    end();
    throw error;
  }
  const items = ndjson<W | ShutdownNoticeJson>(bytes, forEver);
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await items.next();
        if (!done) return controller.enqueue(read(unlessShutdownNotice(value.value)));
      } catch (error) {
        if (!over.signal.aborted) {
          end();
          over.abort();
          throw inLibraryWords(error);
        }
      }
      end();
      closeIfOpen(controller);
    },
    cancel() {
      end();
      over.abort();
    },
  }, { highWaterMark: 0 });
}

/** Throws if an item is the shutdown notice of the daemon. */
function unlessShutdownNotice<W>(item: W | ShutdownNoticeJson): W {
  const { type, to } = item as Partial<ShutdownNoticeJson> & { readonly to?: string };
  if (type === "shutdown") throw new ProcsupError("closed", "The daemon was shut down");
  if (type !== "upgrading") return item as W;
  throw new ProcsupError("closed", `The daemon is being replaced by version ${to}`, {
    hint: "Try again in a second",
  });
}

/** A stream that is still opening. If opening fails, it fails; after an abort it is empty. */
export function streamOf<T>(
  opening: Promise<ReadableStream<T>>,
  signal: AbortSignal | undefined,
): ReadableStream<T> {
  const reader = opening.then((stream) => stream.getReader());
  reader.catch(() => {});
  return new ReadableStream<T>({
    async pull(controller) {
      const next = await reader.then((it) => it.read()).catch((error) => {
        if (signal?.aborted) return { done: true, value: undefined } as const;
        throw error;
      });
      if (next.done) closeIfOpen(controller);
      else controller.enqueue(next.value);
    },
    async cancel() {
      await reader.then((it) => it.cancel(), () => {});
    },
  }, { highWaterMark: 0 });
}

function closeIfOpen(controller: ReadableStreamDefaultController<unknown>): void {
  // The stream was cancelled, which closed it.
  ifPossible(() => controller.close());
}
