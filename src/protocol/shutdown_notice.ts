/** The last message of a daemon to its clients: it shuts down, or an upgrade replaces it. */

import type { ShutdownNoticeJson } from "./process_json.ts";

export class ShutdownNotice {
  readonly #listeners = new Set<(notice: ShutdownNoticeJson) => void>();

  /** Calls `listener` when the message is sent. Returns an unsubscribe function. */
  listen(listener: (notice: ShutdownNoticeJson) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An endless stream that ends with the message. */
  atEndOf<T>(items: ReadableStream<T>): ReadableStream<T | ShutdownNoticeJson> {
    return endedBy<T | ShutdownNoticeJson>(items, (end) => this.listen(end));
  }

  say(notice: ShutdownNoticeJson): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(notice);
  }
}

/**
 * Passes a stream on until `subscribe` calls `end`, then sends the last item, if any, and ends.
 * `subscribe` returns its unsubscribe function.
 */
export function endedBy<T>(
  items: ReadableStream<T>,
  subscribe: (end: (last?: T) => void) => () => void,
): ReadableStream<T> {
  let isOver = false;
  let unsubscribe = () => {};
  const over = () => {
    isOver = true;
    unsubscribe();
  };
  return items.pipeThrough(
    new TransformStream<T, T>({
      start(out) {
        unsubscribe = subscribe((last) => {
          if (isOver) return;
          over();
          if (last !== undefined) out.enqueue(last);
          out.terminate();
        });
        // It may have called back at once.
        if (isOver) unsubscribe();
      },
      flush: over,
      cancel: over,
    }),
  );
}
