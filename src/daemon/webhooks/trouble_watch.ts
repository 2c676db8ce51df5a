/** Tracks processes in trouble until they have recovered, across restarts of the daemon. */

import type { ProcessChange } from "../../model/process_change.ts";
import type { WebhookEvent } from "../../model/webhook.ts";
import { recoveredIn, troubleOf } from "../../model/webhook_rules.ts";
import { type Cancel, systemClock } from "../../platform/clock.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import { Troubled } from "./troubled.ts";

export interface TroubleParts {
  /** Path of the file that keeps their ids. */
  readonly path: string;
  readonly list: () => readonly ManagedProcess[];
  /** Called with each event for webhooks. */
  readonly announce: (event: WebhookEvent, change: ProcessChange, process: ManagedProcess) => void;
}

export class TroubleWatch {
  readonly #parts: TroubleParts;
  readonly #troubled: Troubled;
  /** Timers of further checks, by UUID. */
  readonly #looks = new Map<string, Cancel>();

  constructor(parts: TroubleParts) {
    this.#parts = parts;
    this.#troubled = new Troubled(parts.path);
    for (const id of this.#troubled.ids) this.#look(id);
  }

  tell(change: ProcessChange): void {
    const { id, type } = change;
    const trouble = troubleOf(type);
    if (trouble !== undefined) {
      const process = this.#find(id);
      if (process === undefined) return;
      this.#cancelLook(id);
      this.#troubled.add(id);
      this.#parts.announce(trouble, change, process);
    } else if (type === "deleted") this.#forget(id);
    else if (this.#troubled.has(id)) this.#look(id);
  }

  close(): void {
    for (const cancel of this.#looks.values()) cancel();
  }

  #look(id: string): void {
    this.#cancelLook(id);
    const process = this.#find(id);
    if (process === undefined) return this.#forget(id);
    const { snapshot, config } = process;
    const { health, uptimeMs } = process.info();
    const ms = recoveredIn({ snapshot, health, uptimeMs, config });
    if (ms === 0) return this.#recovered(process);
    if (ms !== undefined) this.#looks.set(id, systemClock.after(ms, () => this.#look(id)));
  }

  #recovered(process: ManagedProcess): void {
    const { snapshot: { state, pid, restarts, lastExit }, id, name, config } = process;
    this.#forget(id);
    const reason = state === "stopped"
      ? "completed with success"
      : config.healthCheck === undefined
      ? "runs stably again"
      : "runs stably again, and is healthy";
    const change: ProcessChange = {
      ...{ type: "running", at: new Date(), id, name, state, pid, restarts, reason },
      exit: lastExit,
    };
    this.#parts.announce("recovered", change, process);
  }

  #find(id: string): ManagedProcess | undefined {
    return this.#parts.list().find((process) => process.id === id);
  }

  #forget(id: string): void {
    this.#cancelLook(id);
    this.#troubled.delete(id);
  }

  #cancelLook(id: string): void {
    this.#looks.get(id)?.();
    this.#looks.delete(id);
  }
}
