/** Restarts processes whose whole tree uses more memory than it may. Looks only while one is limited. */

import type { Usage } from "../model/process_info.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

const INTERVAL_MS = 5000;

/** What the guard looks at. */
export interface Guarded {
  list(): readonly ManagedProcess[];
  usage(processes: readonly ManagedProcess[]): (process: ManagedProcess) => Usage;
}

/** Watches the memory of limited processes. */
export class MemoryGuard {
  readonly #clock: Clock;
  readonly #guarded: Guarded;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, guarded: Guarded) {
    this.#clock = clock;
    this.#guarded = guarded;
  }

  /** A process changed: one with a limit may be running now. */
  wake(process: ManagedProcess): void {
    if (this.#cancel === undefined && isLimited(process)) this.#arm();
  }

  /** Looks no more. */
  close(): void {
    this.#cancel?.();
  }

  #arm(): void {
    this.#cancel = this.#clock.after(INTERVAL_MS, () => {
      this.#cancel = undefined;
      this.#look();
    });
  }

  #look(): void {
    const limited = this.#guarded.list().filter(isLimited);
    if (limited.length === 0) return;
    const usage = this.#guarded.usage(limited);
    for (const process of limited) {
      const limit = process.config.maxMemoryBytes!;
      const { memBytes } = usage(process);
      if (memBytes > limit) {
        process.recycle(`memory ${memBytes} bytes, more than its max_memory of ${limit}`);
      }
    }
    this.#arm();
  }
}

function isLimited({ config, snapshot }: ManagedProcess): boolean {
  return config.maxMemoryBytes !== undefined && snapshot.state === "running";
}
