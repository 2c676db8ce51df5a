/** The last message of a daemon to its clients: it shuts down, or an upgrade replaces it. */

import type { ShutdownNoticeJson } from "./change_json.ts";
import { endedBy } from "./ended_by.ts";

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
