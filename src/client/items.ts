/** The items of a daemon's stream, whichever way it comes. */

import { ProcsupError } from "../model/errors.ts";
import type { FarewellJson } from "../protocol/change_json.ts";
import { ndjson } from "../protocol/ndjson.ts";
import type { CallOptions } from "./transport.ts";

/** How a stream is opened and ends. */
export interface ItemsOptions extends CallOptions {
  /** It has no end of its own: when it ends, the daemon is gone. */
  readonly forEver: boolean;
}

/**
 * Opens a stream. It ends without an error when the signal aborts; when the daemon goes away it fails
 * with `closed`. Cancel it, or leave a `for await`, to stop it.
 */
export async function openItems<T>(
  open: (options: CallOptions) => Promise<ReadableStream<Uint8Array>>,
  { signal, forEver }: ItemsOptions,
): Promise<ReadableStream<T>> {
  const over = new AbortController();
  const abort = () => over.abort(signal!.reason);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", abort);
  const end = () => signal?.removeEventListener("abort", abort);
  let bytes: ReadableStream<Uint8Array>;
  try {
    bytes = await open({ signal: over.signal });
  } catch (error) {
    end();
    throw error;
  }
  const items = ndjson<T | FarewellJson>(bytes, forEver);
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await items.next();
        if (!done) return controller.enqueue(unlessFarewell<T>(value.value));
      } catch (error) {
        if (!over.signal.aborted) {
          end();
          over.abort();
          throw error;
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

/** The last word of a daemon that ends, or gives way to another one, is no item. */
function unlessFarewell<T>(item: T | FarewellJson): T {
  const { type, to } = item as Partial<FarewellJson> & { readonly to?: string };
  if (type === "shutdown") throw new ProcsupError("closed", "The daemon was shut down");
  if (type !== "upgrading") return item as T;
  throw new ProcsupError("closed", `The daemon gives way to version ${to}`, {
    hint: "Ask again: it answers within a second",
  });
}

function closeIfOpen(controller: ReadableStreamDefaultController<unknown>): void {
  try {
    controller.close();
  } catch {
    // Cancelled: it is closed already.
  }
}
