/** One process with a schedule. */

import type { Schedule } from "../model/cron.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { CronConfig, CronRestartConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import { Job } from "./scheduler_job.ts";
import { ClockRestart } from "./scheduler_restart.ts";
import type { Runner, Schedulable } from "./scheduler_runner.ts";
import { type CronMemory, type CronRun, type CronStore, withRun } from "./scheduler_store.ts";
import { SET_BACK_MS, tick } from "./scheduler_ticks.ts";

/** A schedule as it stands. */
export interface CronInfo {
  readonly name: string;
  /** A job is run; else a process that is kept up is restarted. */
  readonly isJob: boolean;
  readonly schedule: string;
  readonly timezone: string;
  readonly enabled: boolean;
  /** Whether a run, or a restart, is under way. */
  readonly running: boolean;
  /** Null while it is not enabled. */
  readonly nextRun: Date | null;
  /** The newest last. */
  readonly history: readonly CronRun[];
}

/** The schedule in a configuration, if there is one. */
export function scheduleOf(config: ProcessConfig): CronConfig | CronRestartConfig | undefined {
  return config.cron ?? config.cronRestart;
}

/** Watches one schedule. */
export class ScheduleEntry {
  readonly process: Schedulable;
  readonly config: CronConfig | CronRestartConfig;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #store: CronStore;
  readonly #runner: Runner;
  #memory: CronMemory;
  #next: number | null;
  #forgotten = false;

  constructor(process: Schedulable, schedule: Schedule, clock: Clock, store: CronStore) {
    this.process = process;
    this.config = scheduleOf(process.config)!;
    this.#schedule = schedule;
    this.#clock = clock;
    this.#store = store;
    this.#memory = store.read(process.id);
    // Moments that passed while no daemon ran are missed. Those after now, when the clock was set
    // back meanwhile, were dealt with already.
    const { covered, next } = tick(schedule, this.#memory.covered, clock.now());
    this.#memory = { ...this.#memory, covered };
    this.#next = next;
    const log = {
      clock,
      running: (since: number | null) => this.#remember({ runningSince: since }),
      again: (again: boolean) => this.#remember({ again }),
      ended: (run: CronRun) => this.#remember({ history: withRun(this.#memory.history, run) }),
    };
    const { cron } = process.config;
    this.#runner = cron === undefined
      ? new ClockRestart(process, log)
      : new Job(process, cron, log, this.#memory);
  }

  get enabled(): boolean {
    return this.#memory.enabled ?? ("enabled" in this.config ? this.config.enabled : true);
  }

  /** When the next moment is due, in milliseconds since the epoch; null while it is not enabled. */
  get nextAt(): number | null {
    return this.enabled ? this.#next : null;
  }

  /** The schedule as it stands. */
  get info(): CronInfo {
    const { schedule, timezone } = this.config;
    return {
      name: this.process.name,
      isJob: this.process.config.cron !== undefined,
      schedule,
      timezone: timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      enabled: this.enabled,
      running: this.#runner.busy,
      nextRun: this.nextAt === null ? null : new Date(this.nextAt),
      history: this.#memory.history,
    };
  }

  /** The next moments, enabled or not. */
  moments(count: number): Date[] {
    const found: Date[] = [];
    for (let at = this.#next; at !== null && found.length < count; at = this.#schedule.next(at)) {
      found.push(new Date(at));
    }
    return found;
  }

  /** Looks at the clock, and acts when a moment is due. */
  look(): void {
    const now = this.#clock.now();
    const isSetBack = this.#memory.covered - now > SET_BACK_MS;
    if (!isSetBack && (this.#next === null || now < this.#next)) return;
    const { due, covered, next } = tick(this.#schedule, this.#memory.covered, now);
    this.#memory = { ...this.#memory, covered };
    this.#next = next;
    if (due === null || !this.enabled) return;
    // On record before the act: a daemon that is killed in between must not act twice.
    this.#remember({});
    this.#runner.due();
  }

  /** Acts now, whatever the clock says. Throws `wrong_state`. */
  run(): "running" | "queued" {
    return this.#runner.run();
  }

  /** Whether moments of the schedule count from now on. */
  enable(enabled: boolean): void {
    // What passed while it was off is not made up.
    const { covered, next } = tick(this.#schedule, this.#memory.covered, this.#clock.now());
    this.#next = next;
    this.#remember({ enabled, covered });
  }

  /** The process changed. */
  changed(before: Snapshot): void {
    this.#runner.changed(before);
  }

  /** Stops its timers. */
  close(): void {
    this.#runner.close();
  }

  /** Its process went. */
  forget(): void {
    this.#forgotten = true;
    this.#store.remove(this.process.id);
  }

  #remember(news: Partial<CronMemory>): void {
    this.#memory = { ...this.#memory, ...news };
    if (!this.#forgotten) this.#store.write(this.process.id, this.#memory);
  }
}
