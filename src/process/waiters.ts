/** Callers that wait until the snapshot of a process fulfils a condition. */

import type { Snapshot } from "../model/process_state.ts";

export class Waiters {
  readonly #checks = new Set<(now: Snapshot) => void>();

  /** Resolves with the first snapshot, `now` included, that fulfils the condition. */
  until(
    condition: (now: Snapshot) => boolean,
    now: Snapshot,
    signal?: AbortSignal,
  ): Promise<Snapshot> {
    if (condition(now)) return Promise.resolve(now);
    return new Promise((resolve, reject) => {
      const check = (next: Snapshot) => {
        if (condition(next)) settle(() => resolve(next));
      };
      const abort = () => settle(() => reject(signal!.reason));
      const settle = (how: () => void) => {
        this.#checks.delete(check);
        signal?.removeEventListener("abort", abort);
        how();
      };
      this.#checks.add(check);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
    });
  }

  /** Checks all conditions against a new snapshot. */
  check(now: Snapshot): void {
    for (const check of [...this.#checks]) check(now);
  }
}
