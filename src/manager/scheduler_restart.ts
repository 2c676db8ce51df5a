/** `cron_restart`: restarts a process by the clock, as long as it is wanted up. */

import { ProcsupError } from "../model/errors.ts";
import type { RunLog, Runner, Schedulable } from "./scheduler_runner.ts";

/** Restarts one process. */
export class ClockRestart implements Runner {
  readonly #process: Schedulable;
  readonly #log: RunLog;
  #busy = false;

  constructor(process: Schedulable, log: RunLog) {
    this.#process = process;
    this.#log = log;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** A process that a user stopped stays stopped; one restart at a time. */
  due(): void {
    if (this.#process.snapshot.wish === "up" && !this.#busy) void this.#restart("by schedule");
  }

  run(): "running" {
    if (this.#busy) {
      throw new ProcsupError("wrong_state", `"${this.#process.name}" is being restarted already`);
    }
    void this.#restart("by cron run");
    return "running";
  }

  changed(): void {}

  close(): void {}

  async #restart(how: string): Promise<void> {
    const { clock } = this.#log;
    const at = clock.now();
    const begun = clock.steady();
    this.#busy = true;
    const ok = await this.#process.restart({ reason: `restarted ${how}` })
      .then(() => true, () => false);
    this.#busy = false;
    const durationMs = clock.steady() - begun;
    this.#log.ended({ at, durationMs, status: ok ? "ok" : "failed", exitCode: null });
  }
}
