/** Writes the records of processes: at once, within milliseconds, or again after a failure. */

import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import { keyOf, type Recorded, type Records } from "./records.ts";
import { type RetriedWrites, RETRY_MS } from "../platform/files/retried_writes.ts";

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

/** Records the apps and processes of a home. */
export class Recorder {
  readonly #parts: RecorderParts;
  /** Called when a delayed write fails. */
  readonly #refused: (one: Recorded, message: string) => void;
  readonly #due = new Set<Recorded>();
  #flush: Cancel | undefined;
  /** Those whose copy of the record is outdated. */
  readonly #uncopied = new Set<Recorded>();
  #copying: Cancel | undefined;
  /** Steady milliseconds of the last change of any record. */
  #changedAt = 0;
  /** Those whose changes are recorded together. */
  #joint: Set<Recorded> | undefined;
  #frozen = false;

  constructor(parts: RecorderParts, refused: (one: Recorded, message: string) => void) {
    this.#parts = parts;
    this.#refused = refused;
  }

  /** Writes the record now. On failure throws `home_unusable`, and retries until it succeeds. */
  record(one: Recorded): void {
    this.#due.delete(one);
    if (this.#frozen) return;
    if (this.#joint !== undefined) return void this.#joint.add(one);
    const { records, writes } = this.#parts;
    try {
      records.write(one.record);
    } catch (cause) {
      writes.later(recordOf(one), () => this.record(one));
      const message = `"${one.name}" cannot be recorded: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    writes.drop(recordOf(one));
    this.copySoon(one);
  }

  /**
   * Runs changes of several records that are one request. If the daemon is killed meanwhile, either
   * all of them are on record or none.
   */
  together<T>(change: () => T): T {
    if (this.#joint !== undefined) return change();
    const joint = this.#joint = new Set<Recorded>();
    try {
      return change();
    } finally {
      this.#joint = undefined;
      this.#recordJoint([...joint]);
    }
  }

  #recordJoint(all: readonly Recorded[]): void {
    const { records } = this.#parts;
    if (all.length < 2 || this.#frozen) return this.#recordAll(all);
    // Without room for it, each is recorded by itself, if need be later.
    ifPossible(() => records.writeJoint(all.map(({ record }) => record)));
    this.#recordAll(all);
    ifPossible(() => records.removeJoint());
  }

  /** Writes the record within milliseconds. */
  recordSoon(one: Recorded): void {
    if (this.#joint !== undefined) return this.record(one);
    this.#due.add(one);
    this.#flush ??= this.#parts.clock.after(SOON_MS, () => this.recordRest());
  }

  /** Calls `act` once no failed write of the record is pending. */
  whenRecorded(one: Recorded, act: () => void): void {
    this.#parts.writes.after(recordOf(one), act);
  }

  /** Writes all delayed records. */
  recordRest(): void {
    this.#flush?.();
    this.#flush = undefined;
    this.#recordAll([...this.#due]);
  }

  #recordAll(all: readonly Recorded[]): void {
    for (const one of all) {
      try {
        this.record(one);
      } catch (error) {
        this.#refused(one, messageOf(error));
      }
    }
  }

  /** Writes all records again after their files were removed. */
  recordAnew(all: readonly Recorded[], nextNumericId: number): void {
    this.#parts.records.beginAnew();
    for (const one of all) this.#due.add(one);
    this.recordRest();
    this.#keepNumericId(nextNumericId);
  }

  /** Updates the copy of a record soon. */
  copySoon(one: Recorded): void {
    this.#changedAt = this.#parts.clock.steady();
    this.#uncopied.add(one);
    this.#copyWhenQuiet(this.#changedAt + COPY_AT_LATEST_MS);
  }

  /**
   * Removes a record. Its numeric id is never reused. Throws `home_unusable` on
   * failure: the next supervisor would restore it.
   */
  forget(one: Recorded, nextNumericId: number): void {
    const { writes, records } = this.#parts;
    this.#keepNumericId(nextNumericId);
    try {
      records.remove(one.record);
    } catch (cause) {
      // The record or its copy may be removed already: write both again.
      this.recordSoon(one);
      const message = `"${one.name}" cannot be deleted: ${messageOf(cause)}`;
      throw new ProcsupError("home_unusable", message, { cause });
    }
    this.#due.delete(one);
    this.#uncopied.delete(one);
    writes.drop(recordOf(one));
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
    for (const one of outdated) {
      try {
        this.#parts.records.writeCopy(one.record);
      } catch {
        this.#uncopied.add(one);
        this.#copying ??= this.#parts.clock.after(RETRY_MS, () => this.#copyRest());
      }
    }
  }
}

/** Name of a record in messages. */
function recordOf({ record }: Recorded): string {
  return `the record of "${keyOf(record)}"`;
}
