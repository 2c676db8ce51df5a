/** Resource usage of the processes. Read on demand; concurrent requests share one pass. */

import { NO_USAGE, type Usage } from "../model/process_info.ts";
import type { Clock } from "../platform/clock.ts";
import { type CpuMark, readUsage, type TreeUsage } from "../platform/scan/usage.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/** The last reading is reused for this long: a shorter interval would only measure noise. */
const MIN_INTERVAL_MS = 500;

/** Readings of processes outside of the current request are dropped after this time. */
const MAX_INTERVAL_MS = 60_000;

/** Reads usage on demand. */
export class UsageSampler {
  readonly #clock: Clock;
  /** By wrapper pid. */
  #last = new Map<number, TreeUsage>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Usage of each process; zeros if it does not run. */
  sample(processes: Iterable<ManagedProcess>): (process: ManagedProcess) => Usage {
    const read = this.read(processes);
    return (process) => read(process)?.usage ?? NO_USAGE;
  }

  /** CPU time of the runs, in seconds, by the UUIDs of their processes. */
  cpuSeconds(processes: readonly ManagedProcess[]): Map<string, number> {
    const read = this.read(processes);
    return new Map(processes.flatMap((process) => {
      const tree = read(process);
      return tree === undefined ? [] : [[process.id, tree.mark.totalMs / 1000]];
    }));
  }

  /** The last reading of each running process. */
  read(
    processes: Iterable<ManagedProcess>,
  ): (process: Pick<ManagedProcess, "snapshot">) => TreeUsage | undefined {
    const now = this.#clock.steady();
    const roots = new Map<number, CpuMark>();
    let stale = false;
    for (const { snapshot, run: { uptimeMs } } of processes) {
      const root = snapshot.run?.wrapperPid;
      if (!root) continue;
      const last = this.#last.get(root);
      roots.set(root, last?.mark ?? { cpuMs: 0, totalMs: 0, at: now - uptimeMs });
      stale ||= last === undefined || now - last.mark.at >= MIN_INTERVAL_MS;
    }
    if (stale) this.#read(roots, now);
    return ({ snapshot }) => this.#last.get(snapshot.run?.wrapperPid ?? 0);
  }

  #read(roots: ReadonlyMap<number, CpuMark>, now: number): void {
    const fresh = readUsage(roots, now);
    for (const [root, last] of this.#last) {
      const age = now - last.mark.at;
      if (age < (roots.has(root) ? MIN_INTERVAL_MS : MAX_INTERVAL_MS)) fresh.set(root, last);
    }
    this.#last = fresh;
  }
}
