/** Checks the memory of whole process trees, only while one has a limit. */

import type { Run } from "../model/process_state.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import { memoryOfTrees } from "../platform/usage.ts";

const INTERVAL_MS = 5000;

/** A tree and its limit. */
interface Limit {
  readonly run: Run;
  readonly bytes: number;
  readonly exceeded: (bytes: number) => void;
}

/** Watches the memory of limited runs: one check serves all. */
export class MemoryGuard {
  readonly #clock: Clock;
  readonly #limits = new Set<Limit>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `exceeded` at each check that finds the run's tree above the limit, until cancelled. */
  limit(run: Run, bytes: number, exceeded: Limit["exceeded"]): Cancel {
    const limit = { run, bytes, exceeded };
    this.#limits.add(limit);
    this.#cancel ??= this.#arm();
    return () => {
      this.#limits.delete(limit);
      if (this.#limits.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #arm(): Cancel {
    return this.#clock.after(INTERVAL_MS, () => {
      this.#cancel = this.#arm();
      const used = memoryOfTrees([...this.#limits].map(({ run }) => run.wrapperPid));
      for (const { run, bytes, exceeded } of [...this.#limits]) {
        const memory = used.get(run.wrapperPid) ?? 0;
        if (memory > bytes) exceeded(memory);
      }
    });
  }
}
