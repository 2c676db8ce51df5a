/** Stops and removes processes, and what else is to be forgotten of them. */

import type { LogKeeper } from "../logs/keep/log_keeper.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { inWaves, type Outcome, reversed, runBulk, runWaves } from "./bulk.ts";
import type { Registry } from "./registry.ts";

export class Removal {
  readonly #registry: Registry;
  readonly #logs: LogKeeper;

  constructor(registry: Registry, logs: LogKeeper) {
    this.#registry = registry;
    this.#logs = logs;
  }

  /** Removes processes at once. All are on record before the first stop. */
  async remove(going: readonly ManagedProcess[]): Promise<Outcome[]> {
    this.#registry.leave(going);
    return await runBulk(going, (process) => this.#remove(process));
  }

  /** Removes processes in reverse order of starts. */
  async removeInOrder(going: readonly ManagedProcess[], reason?: string): Promise<Outcome[]> {
    this.#registry.leave(going);
    return await runWaves(reversed(inWaves(going)), (process) => this.#remove(process, reason));
  }

  async #remove(process: ManagedProcess, reason?: string): Promise<void> {
    const then = () => this.#logs.disown(process);
    await this.#registry.retire(process, { then, ...(reason === undefined ? {} : { reason }) });
    this.#logs.forget(process, this.#registry.directory.list());
  }
}
