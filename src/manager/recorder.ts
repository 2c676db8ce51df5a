/** When each process is put on record: at once, within moments, or again after the disk refused. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Records } from "./records.ts";
import { type RetriedWrites, RETRY_MS } from "./retried_writes.ts";

/** How long a record may be put off: a start makes several changes in one breath. */
const SOON_MS = 5;

/** Copies are written when no record has changed for that time: they hold up no launch of many apps. */
const COPY_MS = 100;

/** How long a copy may lag behind while records change all the time. */
const COPY_AT_LATEST_MS = 1000;

/** What a recorder works with. */
export interface RecorderParts {
  readonly clock: Clock;
  readonly records: Records;
  readonly writes: RetriedWrites;
}

/** Puts the processes of a home on record. */
export class Recorder {
  readonly #parts: RecorderParts;
  /** Called when a record that was put off cannot be written. */
  readonly #refused: (process: ManagedProcess, message: string) => void;
  readonly #due = new Set<ManagedProcess>();
  #flush: Cancel | undefined;
  /** Processes whose copy of the record is outdated. */
  readonly #uncopied = new Set<ManagedProcess>();
  #copying: Cancel | undefined;
  /** Steady milliseconds at which a record changed last. */
  #changedAt = 0;
  #frozen = false;

  constructor(
    parts: RecorderParts,
    refused: (process: ManagedProcess, message: string) => void,
  ) {
    this.#parts = parts;
    this.#refused = refused;
  }

  /** Writes the record now. Throws `home_unusable` when the disk refuses, and tries again until it is written. */
  record(process: ManagedProcess): void {
    this.#due.delete(process);
    if (this.#frozen) return;
    const { records, writes } = this.#parts;
    try {
      records.write(process);
    } catch (cause) {
      writes.later(recordOf(process), () => this.record(process));
      const message = `"${process.name}" cannot be recorded: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    writes.drop(recordOf(process));
    this.copySoon(process);
  }

  /** Writes the record within moments. */
  recordSoon(process: ManagedProcess): void {
    this.#due.add(process);
    this.#flush ??= this.#parts.clock.after(SOON_MS, () => this.recordRest());
  }

  /** Acts once the disk has what it refused of the process. */
  whenRecorded(process: ManagedProcess, act: () => void): void {
    this.#parts.writes.after(recordOf(process), act);
  }

  /** Writes what was delayed. */
  recordRest(): void {
    this.#flush?.();
    this.#flush = undefined;
    for (const process of [...this.#due]) {
      try {
        this.record(process);
      } catch (error) {
        this.#refused(process, messageOf(error));
      }
    }
  }

  /** Writes all records again: their files are gone. */
  recordAnew(processes: readonly ManagedProcess[], nextNumericId: number): void {
    this.#parts.records.beginAnew();
    for (const process of processes) this.#due.add(process);
    this.recordRest();
    this.#keepNumericId(nextNumericId);
  }

  /** Brings the copy of a record up to date within moments. */
  copySoon(process: ManagedProcess): void {
    this.#changedAt = this.#parts.clock.steady();
    this.#uncopied.add(process);
    this.#copyWhenQuiet(this.#changedAt + COPY_AT_LATEST_MS);
  }

  /**
   * Removes the record of a process. The ids that were given stay given. Throws `home_unusable` when
   * the disk refuses: the next supervisor would bring the process back.
   */
  forget(process: ManagedProcess, nextNumericId: number): void {
    const { writes, records } = this.#parts;
    this.#keepNumericId(nextNumericId);
    try {
      records.remove(process.identity.id);
    } catch (cause) {
      // Of the record and its copy one may be gone.
      this.recordSoon(process);
      const message = `"${process.name}" cannot be deleted: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    this.#due.delete(process);
    this.#uncopied.delete(process);
    writes.drop(recordOf(process));
  }

  /** Writes what was delayed, and nothing after that. */
  freeze(): void {
    this.recordRest();
    this.#copyRest();
    this.abandon();
  }

  /** Writes nothing from now on. */
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
        this.#parts.records.writeCopy(process);
      } catch {
        this.#uncopied.add(process);
        this.#copying ??= this.#parts.clock.after(RETRY_MS, () => this.#copyRest());
      }
    }
  }
}

/** The record of a process, in words. */
function recordOf({ identity }: ManagedProcess): string {
  return `the record of "${identity.id}"`;
}
