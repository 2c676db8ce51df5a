/** Waits until a process reaches a state. */

import { AT_REST } from "../model/transition_steps.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";

/** Callers that wait for a snapshot. */
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
  tell(now: Snapshot): void {
    for (const check of [...this.#checks]) check(now);
  }
}

/**
 * Running with a pid, ended, or delayed; without `wait`, also starting or awaiting dependencies.
 */
export function settled(now: Snapshot, wait: boolean): boolean {
  if (now.state === "running") return now.pid > 0;
  if (now.state === "starting") return !wait && now.pid > 0;
  if (now.state === "waiting") return !wait || now.awaiting !== "dependencies";
  return now.state !== "stopping";
}

/** Whether no attempt is under way: nothing runs, or dependencies are awaited. */
export function atRest(now: Snapshot): boolean {
  return AT_REST.has(now.state) || now.awaiting === "dependencies";
}

/** Whether an app runs or is being started. */
export function isUp(now: Snapshot): boolean {
  return now.state === "running" || now.state === "starting";
}

/** Whether it has ended successfully: a short job. */
export function endedWell(now: Snapshot, config: ProcessConfig): boolean {
  return now.state === "stopped" && now.lastExit?.signal === null &&
    config.successExitCodes.includes(now.lastExit.code ?? -1);
}
