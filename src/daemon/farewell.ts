/** The last message of a daemon to its clients: it shuts down, or an upgrade replaces it. */

import type { FarewellJson } from "../protocol/change_json.ts";

export class Farewell {
  readonly #listeners = new Set<(news: FarewellJson) => void>();

  /** Calls `listener` when the message is sent. Returns an unsubscribe function. */
  listen(listener: (news: FarewellJson) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  say(news: FarewellJson): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(news);
  }
}
