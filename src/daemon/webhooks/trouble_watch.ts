/** Tracks processes in trouble until they have recovered, across restarts of the daemon. */

import type { ProcessChange } from "../../model/process_change.ts";
import type { WebhookEvent } from "../../model/webhook.ts";
import { recoveredIn, troubleOf } from "../../model/webhook_rules.ts";
import { appendToFile, readFileIfAny, replaceFile } from "../../platform/atomic_file.ts";
import { type Cancel, systemClock } from "../../platform/clock.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";

interface TroubleParts {
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

/** Number of superfluous lines at which the file is rewritten. */
const SPARE_LINES = 1000;

/**
 * The ids of processes in trouble, on disk: one line for each that got into trouble or recovered.
 * Written before webhooks are sent, so that a later daemon knows whose recovery to report. If the
 * disk is full, only reports of recovery are lost.
 */
export class Troubled {
  readonly #path: string;
  readonly #ids: Set<string>;
  #lines = Infinity;

  constructor(path: string) {
    this.#path = path;
    this.#ids = read(path);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#write(`+${id}`);
  }

  delete(id: string): void {
    if (this.#ids.delete(id)) this.#write(`-${id}`);
  }

  #write(line: string): void {
    try {
      // Start with the newline: a line cut off by a full disk then spoils only itself.
      if (this.#lines < this.#ids.size + SPARE_LINES && appendToFile(this.#path, `\n${line}`)) {
        this.#lines++;
        return;
      }
      replaceFile(this.#path, this.ids.map((id) => `+${id}`).join("\n"));
      this.#lines = this.#ids.size;
    } catch {
      // A full disk is reported elsewhere.
    }
  }
}

function read(path: string): Set<string> {
  const ids = new Set<string>();
  for (const line of readFileIfAny(path)?.split("\n") ?? []) {
    if (line.startsWith("+")) ids.add(line.slice(1));
    else ids.delete(line.slice(1));
  }
  return ids;
}
