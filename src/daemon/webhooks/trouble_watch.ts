/** Which processes are in trouble, until they have recovered. Remembered for the next daemon. */

import type { ProcessChange } from "../../model/process_change.ts";
import type { WebhookEvent } from "../../model/webhook.ts";
import { recoveredIn, troubleOf } from "../../model/webhook_rules.ts";
import { readFileIfAny, replaceFile } from "../../platform/atomic_file.ts";
import { type Cancel, systemClock } from "../../platform/clock.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";

/** How long a change may be off the disk: many processes may crash at once. */
const SOON_MS = 50;

/** What a watch stands on. */
export interface TroubleParts {
  /** File of its memory. */
  readonly path: string;
  readonly list: () => readonly ManagedProcess[];
  /** Is told what webhooks are to be told. */
  readonly announce: (event: WebhookEvent, change: ProcessChange, process: ManagedProcess) => void;
}

/** Makes events of the news. */
export class TroubleWatch {
  readonly #parts: TroubleParts;
  /** UUIDs, each with the timer for another look. */
  readonly #troubled = new Map<string, Cancel | undefined>();
  #cancelSave: Cancel | undefined;

  constructor(parts: TroubleParts) {
    this.#parts = parts;
    const known = new Set(parts.list().map(({ id }) => id));
    for (const id of this.#remembered()) if (known.has(id)) this.#troubled.set(id, undefined);
    for (const id of [...this.#troubled.keys()]) this.#look(id);
  }

  /** Takes a piece of news. */
  tell(change: ProcessChange): void {
    const { id, type } = change;
    const trouble = troubleOf(type);
    if (trouble !== undefined) {
      const process = this.#find(id);
      if (process === undefined) return;
      this.#set(id);
      this.#parts.announce(trouble, change, process);
    } else if (type === "deleted") this.#forget(id);
    else if (this.#troubled.has(id)) this.#look(id);
  }

  /** Ends its timers. */
  close(): void {
    for (const cancel of this.#troubled.values()) cancel?.();
    if (this.#cancelSave !== undefined) this.#save();
  }

  #look(id: string): void {
    this.#troubled.get(id)?.();
    const process = this.#find(id);
    if (process === undefined) return this.#forget(id);
    const { snapshot, config } = process;
    const { health, uptimeMs } = process.info();
    const ms = recoveredIn({ snapshot, health, uptimeMs, config });
    if (ms === 0) return this.#recovered(process);
    const again = ms === undefined ? undefined : systemClock.after(ms, () => this.#look(id));
    this.#troubled.set(id, again);
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

  #set(id: string): void {
    this.#troubled.get(id)?.();
    if (!this.#troubled.has(id)) this.#saveSoon();
    this.#troubled.set(id, undefined);
  }

  #forget(id: string): void {
    this.#troubled.get(id)?.();
    if (this.#troubled.delete(id)) this.#saveSoon();
  }

  #saveSoon(): void {
    this.#cancelSave ??= systemClock.after(SOON_MS, () => this.#save());
  }

  #save(): void {
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    try {
      replaceFile(this.#parts.path, JSON.stringify([...this.#troubled.keys()]));
    } catch {
      // On a full disk the next daemon only tells no recovery; what is full is told elsewhere.
    }
  }

  #remembered(): string[] {
    try {
      return JSON.parse(readFileIfAny(this.#parts.path) ?? "[]");
    } catch {
      return [];
    }
  }
}
