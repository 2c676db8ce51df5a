/**
 * Acts by the clock: runs jobs (`cron`) and restarts processes (`cron_restart`). One timer serves all
 * schedules. Without a schedule, neither the timer nor the schedule parser is loaded.
 */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { Schedule, ScheduleOwner } from "../model/cron.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import type { RetriedWrites } from "../platform/files/retried_writes.ts";
import { type CronInfo, ownerOf, ScheduleEntry, scheduleOf } from "./schedule_entry.ts";
import type { ScheduledProcess } from "./schedule_runners.ts";
import { CronStore } from "./schedule_store.ts";

/** Maximum time between two checks of the clock, which may be set at any moment. */
const LOOK_MS = 10_000;

/** Number of upcoming due times to list. */
const FORETOLD = 5;

interface SchedulerOptions {
  readonly clock: Clock;
  /** Folder of the saved states. */
  readonly folder: string;
  readonly list: () => readonly ScheduledProcess[];
  readonly writes: RetriedWrites;
  readonly warn: (message: string) => void;
  /** A run is missing. */
  readonly overdue: (process: ScheduledProcess, reason: string) => void;
}

/** The schedules of one home. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #store: CronStore;
  readonly #entries = new Map<string, ScheduleEntry>();
  #cancel: Cancel = () => {};
  #closed = false;
  /** Whether no schedule was loaded yet. */
  #isFirst = true;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#store = new CronStore(options);
  }

  /** Throws `invalid_config` for an invalid schedule. */
  async check(config: ProcessConfig): Promise<void> {
    if (scheduleOf(config) !== undefined) parsed(await import("../model/cron.ts"), config);
  }

  /** Loads the schedules of new and changed processes, and drops those of removed ones. */
  async sync(): Promise<void> {
    const hasAny = this.#options.list().some(({ config }) => scheduleOf(config) !== undefined);
    if (!hasAny && this.#entries.size === 0) return;
    const cron = await import("../model/cron.ts");
    const listed = new Map(this.#options.list().map((process) => [process.id, process]));
    for (const [id, entry] of [...this.#entries]) {
      const now = listed.get(id);
      if (now !== undefined && isSame(scheduleOf(now.config), entry.config)) continue;
      entry.close();
      this.#entries.delete(id);
      if (now === undefined) entry.forget();
      else this.#take(cron, now, entry);
    }
    for (const process of listed.values()) this.#take(cron, process);
    this.#finishLeft();
    this.#arm();
  }

  /** Call it after each change of a process; `before` is its snapshot before the change. */
  changed(process: ScheduledProcess, before: Snapshot): void {
    this.#entries.get(process.id)?.changed(before);
  }

  /** The schedules of processes; those without one are left out. */
  list(processes: readonly ScheduledProcess[] = this.#options.list()): CronInfo[] {
    return this.#of(processes).map((entry) => entry.info);
  }

  /** The next due times of a process's schedule. */
  moments(process: ScheduledProcess): Date[] {
    return this.#entries.get(process.id)?.moments(FORETOLD) ?? [];
  }

  /** Enables or disables schedules. Throws `wrong_state` with the name of a process without one. */
  enable(processes: readonly ScheduledProcess[], enabled: boolean): void {
    this.#enable(this.#need(processes), enabled);
    this.#arm();
  }

  #enable(entries: readonly ScheduleEntry[], enabled: boolean): void {
    const ids = entries.map(({ process }) => process.id);
    this.#store.carryOut({ ids, enabled }, () => {
      for (const entry of entries) entry.enable(enabled);
    });
  }

  /** Carries out what an earlier daemon was killed in. */
  #finishLeft(): void {
    // Closed, it has no schedules: the next one carries it out.
    const left = this.#isFirst && !this.#closed ? this.#store.left() : undefined;
    this.#isFirst = false;
    if (left === undefined) return;
    this.#enable(left.ids.flatMap((id) => this.#entries.get(id) ?? []), left.enabled);
  }

  /**
   * Runs or restarts now. Throws `wrong_state` if a run is in progress that must not overlap; the
   * others are run all the same.
   */
  run(processes: readonly ScheduledProcess[]): "running" | "queued" {
    const refusals: unknown[] = [];
    let status: "running" | "queued" = "running";
    for (const entry of this.#need(processes)) {
      try {
        status = entry.run();
      } catch (refusal) {
        refusals.push(refusal);
      }
    }
    if (refusals.length > 0) throw refusals[0];
    return status;
  }

  /** Stops all schedules. */
  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const entry of this.#entries.values()) entry.close();
  }

  /** Loads the schedule of a process. `before` is the entry of its schedule before a change. */
  #take(
    cron: typeof import("../model/cron.ts"),
    process: ScheduledProcess,
    before?: ScheduleEntry,
  ): void {
    if (this.#closed || this.#entries.has(process.id)) return;
    if (scheduleOf(process.config) === undefined) return;
    try {
      const schedule = parsed(cron, process.config, ownerOf(process));
      const { clock, overdue } = this.#options;
      const entry = new ScheduleEntry(
        process,
        schedule,
        { clock, overdue, store: this.#store },
        before,
      );
      this.#entries.set(process.id, entry);
    } catch (error) {
      this.#options.warn(`"${process.name}" has no schedule: ${messageOf(error)}`);
    }
  }

  #of(processes: readonly ScheduledProcess[]): ScheduleEntry[] {
    return processes.flatMap(({ id }) => this.#entries.get(id) ?? []);
  }

  #need(processes: readonly ScheduledProcess[]): ScheduleEntry[] {
    const entries = this.#of(processes);
    if (entries.length > 0) return entries;
    const names = processes.map(({ name }) => `"${name}"`).join(", ");
    throw new ProcsupError("wrong_state", `No schedule: ${names || "there is no process"}`, {
      hint: "The key cron or cron_restart gives a schedule",
    });
  }

  #arm(): void {
    this.#cancel();
    const next = Math.min(...[...this.#entries.values()].map(({ nextAt }) => nextAt ?? Infinity));
    if (this.#closed || next === Infinity) return;
    const { clock } = this.#options;
    const ms = Math.min(LOOK_MS, Math.max(0, next - clock.now()));
    this.#cancel = clock.after(ms, () => {
      for (const entry of this.#entries.values()) entry.look();
      this.#arm();
    });
  }
}

function parsed(
  cron: typeof import("../model/cron.ts"),
  config: ProcessConfig,
  owner?: ScheduleOwner,
): Schedule {
  return cron.parseSchedule(config.cron ? "cron" : "cron_restart", scheduleOf(config)!, owner);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
