/** Hands every piece of news to all who listen; costs nothing while nobody does. */

import type { ProcessChange } from "../model/process_change.ts";

/** News that a slow reader may have waiting before it is dropped. */
const MAX_WAITING = 10_000;

/** Fan-out of news. */
export class EventHub {
  readonly #listeners = new Set<(change: ProcessChange) => void>();
  readonly #closers = new Set<() => void>();

  /** Whether there is anyone to tell. */
  get idle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Tells everyone. */
  publish(change: ProcessChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** Calls `listener` with all news from now on; returns its undoing. */
  listen(listener: (change: ProcessChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All news from now on, until cancelled, aborted or closed. */
  stream(signal?: AbortSignal): ReadableStream<ProcessChange> {
    let end = () => {};
    return new ReadableStream<ProcessChange>({
      start: (controller) => {
        const stop = this.listen((change) => {
          controller.enqueue(change);
          if ((controller.desiredSize ?? 0) < 0) close();
        });
        const close = () => {
          end();
          controller.close();
        };
        end = () => {
          stop();
          this.#closers.delete(close);
          signal?.removeEventListener("abort", close);
        };
        this.#closers.add(close);
        if (signal?.aborted) close();
        else signal?.addEventListener("abort", close);
      },
      cancel: () => end(),
    }, new CountQueuingStrategy({ highWaterMark: MAX_WAITING }));
  }

  /** Ends every stream. */
  close(): void {
    for (const close of [...this.#closers]) close();
    this.#listeners.clear();
  }
}
