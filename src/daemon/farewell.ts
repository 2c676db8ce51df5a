/** The last word of a daemon that gives way to another one, or ends, for all who listen to it. */

import type { FarewellJson } from "../protocol/change_json.ts";

/** Said at most once. */
export class Farewell {
  readonly #listeners = new Set<(news: FarewellJson) => void>();

  /** Calls `listener` when it is said; returns its undoing. */
  listen(listener: (news: FarewellJson) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Says it. */
  say(news: FarewellJson): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(news);
  }
}
