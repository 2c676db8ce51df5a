/** Writes the records of processes: at once, within milliseconds, or again after a failure. */

import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Records } from "./records.ts";
import { type RetriedWrites, RETRY_MS } from "../platform/retried_writes.ts";

/** Maximum delay of a write. A start changes a record several times within milliseconds. */
const SOON_MS = 5;

/** Copies are written once no record has changed for this time, so that they delay no launch. */
const COPY_MS = 100;

/** Maximum delay of a copy while records change continuously. */
const COPY_AT_LATEST_MS = 1000;

interface RecorderParts {
  readonly clock: Clock;
  readonly records: Records;
  readonly writes: RetriedWrites;
}

/** Records the processes of a home. */
export class Recorder {
  readonly #parts: RecorderParts;
  /** Called when a delayed write fails. */
  readonly #refused: (process: ManagedProcess, message: string) => void;
  readonly #due = new Set<ManagedProcess>();
  #flush: Cancel | undefined;
  /** Processes whose copy of the record is outdated. */
  readonly #uncopied = new Set<ManagedProcess>();
  #copying: Cancel | undefined;
  /** Steady milliseconds of the last change of any record. */
  #changedAt = 0;
  /** Processes whose changes are recorded together. */
  #joint: Set<ManagedProcess> | undefined;
  #frozen = false;

  constructor(parts: RecorderParts, refused: (process: ManagedProcess, message: string) => void) {
    this.#parts = parts;
    this.#refused = refused;
  }

  /** Writes the record now. On failure throws `home_unusable`, and retries until it succeeds. */
  record(process: ManagedProcess): void {
    this.#due.delete(process);
    if (this.#frozen) return;
    if (this.#joint !== undefined) return void this.#joint.add(process);
    const { records, writes } = this.#parts;
    try {
      records.write(process.record);
    } catch (cause) {
      writes.later(recordOf(process), () => this.record(process));
      const message = `"${process.name}" cannot be recorded: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    writes.drop(recordOf(process));
    this.copySoon(process);
  }

  /**
   * Runs changes of several processes that are one request. If the daemon is killed meanwhile, either
   * all of them are on record or none.
   */
  together<T>(change: () => T): T {
    if (this.#joint !== undefined) return change();
    const joint = this.#joint = new Set<ManagedProcess>();
    try {
      return change();
    } finally {
      this.#joint = undefined;
      this.#recordJoint([...joint]);
    }
  }

  #recordJoint(processes: readonly ManagedProcess[]): void {
    const { records } = this.#parts;
    if (processes.length < 2 || this.#frozen) return this.#recordAll(processes);
    // Without room for it, each is recorded by itself, if need be later.
    ifPossible(() => records.writeJoint(processes.map(({ record }) => record)));
    this.#recordAll(processes);
    ifPossible(() => records.removeJoint());
  }

  /** Writes the record within milliseconds. */
  recordSoon(process: ManagedProcess): void {
    if (this.#joint !== undefined) return this.record(process);
    this.#due.add(process);
    this.#flush ??= this.#parts.clock.after(SOON_MS, () => this.recordRest());
  }

  /** Calls `act` once no failed write of the record is pending. */
  whenRecorded(process: ManagedProcess, act: () => void): void {
    this.#parts.writes.after(recordOf(process), act);
  }

  /** Writes all delayed records. */
  recordRest(): void {
    this.#flush?.();
    this.#flush = undefined;
    this.#recordAll([...this.#due]);
  }

  #recordAll(processes: readonly ManagedProcess[]): void {
    for (const process of processes) {
      try {
        this.record(process);
      } catch (error) {
        this.#refused(process, messageOf(error));
      }
    }
  }

  /** Writes all records again after their files were removed. */
  recordAnew(processes: readonly ManagedProcess[], nextNumericId: number): void {
    this.#parts.records.beginAnew();
    for (const process of processes) this.#due.add(process);
    this.recordRest();
    this.#keepNumericId(nextNumericId);
  }

  /** Updates the copy of a record soon. */
  copySoon(process: ManagedProcess): void {
    this.#changedAt = this.#parts.clock.steady();
    this.#uncopied.add(process);
    this.#copyWhenQuiet(this.#changedAt + COPY_AT_LATEST_MS);
  }

  /**
   * Removes the record of a process. Its numeric id is never reused. Throws `home_unusable` on
   * failure: the next supervisor would restore the process.
   */
  forget(process: ManagedProcess, nextNumericId: number): void {
    const { writes, records } = this.#parts;
    this.#keepNumericId(nextNumericId);
    try {
      records.remove(process.identity.id);
    } catch (cause) {
      // The record or its copy may be removed already: write both again.
      this.recordSoon(process);
      const message = `"${process.name}" cannot be deleted: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    this.#due.delete(process);
    this.#uncopied.delete(process);
    writes.drop(recordOf(process));
  }

  /** Writes all delayed records, and nothing after that. */
  freeze(): void {
    this.recordRest();
    this.#copyRest();
    this.abandon();
  }

  /** Stops all writes. */
  abandon(): void {
    this.#frozen = true;
    this.#flush?.();
    this.#copying?.();
  }

  #keepNumericId(next: number): void {
    const { records, writes } = this.#parts;
    writes.attempt("the next numeric id", () => records.keepNumericId(next));
  }

  #copyWhenQuiet(latest: number): void {
    const { clock } = this.#parts;
    this.#copying ??= clock.after(COPY_MS, () => {
      this.#copying = undefined;
      const now = clock.steady();
      if (now - this.#changedAt < COPY_MS && now < latest) this.#copyWhenQuiet(latest);
      else this.#copyRest();
    });
  }

  #copyRest(): void {
    this.#copying?.();
    this.#copying = undefined;
    const outdated = [...this.#uncopied];
    this.#uncopied.clear();
    if (this.#frozen) return;
    for (const process of outdated) {
      try {
        this.#parts.records.writeCopy(process.record);
      } catch {
        this.#uncopied.add(process);
        this.#copying ??= this.#parts.clock.after(RETRY_MS, () => this.#copyRest());
      }
    }
  }
}

/** Name of a record in messages. */
function recordOf({ identity }: ManagedProcess): string {
  return `the record of "${identity.id}"`;
}
