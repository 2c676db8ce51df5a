/** One process with a schedule. */

import type { Schedule } from "../model/cron.ts";
import type { CronConfig, CronRestartConfig, ProcessConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import { ClockRestart, Job, type Runner, type ScheduledProcess } from "./schedule_runners.ts";
import { type CronMemory, type CronRun, type CronStore, withRun } from "./schedule_store.ts";

/** The state of a schedule. */
export interface CronInfo {
  readonly name: string;
  /** True: runs a job. False: restarts a process that is kept up. */
  readonly isJob: boolean;
  readonly schedule: string;
  readonly timezone: string;
  readonly enabled: boolean;
  /** Whether a run or a restart is in progress. */
  readonly running: boolean;
  /** Null while disabled. */
  readonly nextRun: Date | null;
  /** The newest last. */
  readonly history: readonly CronRun[];
}

/** The schedule in a configuration, if any. */
export function scheduleOf(config: ProcessConfig): CronConfig | CronRestartConfig | undefined {
  return config.cron ?? config.cronRestart;
}

export class ScheduleEntry {
  readonly process: ScheduledProcess;
  readonly config: CronConfig | CronRestartConfig;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #store: CronStore;
  readonly #runner: Runner;
  #memory: CronMemory;
  #next: number | null;
  #forgotten = false;

  /** `before` is the closed entry of the schedule before a change. */
  constructor(
    process: ScheduledProcess,
    schedule: Schedule,
    clock: Clock,
    store: CronStore,
    before?: ScheduleEntry,
  ) {
    this.process = process;
    this.config = scheduleOf(process.config)!;
    this.#schedule = schedule;
    this.#clock = clock;
    this.#store = store;
    this.#memory = store.read(process.id);
    // A due time that passed while this daemon replaced another one is still due. If the clock was
    // set back meanwhile, due times up to `covered` were handled already.
    const { due, covered, next } = tick(schedule, this.#memory.covered, clock.now());
    const isNew = before !== undefined || this.#memory.covered === 0;
    this.#next = isNew ? next : due ?? next;
    if (isNew) this.#remember({ covered });
    const log = {
      clock,
      remember: (news: Partial<CronMemory>) => this.#remember(news),
      ended: (run: CronRun) => this.#remember({ history: withRun(this.#memory.history, run) }),
    };
    const { cron } = process.config;
    const runner = before && before.#runner;
    this.#runner = cron !== undefined
      ? new Job(process, cron, log, this.#memory)
      : runner instanceof ClockRestart
      ? runner.goOn(log)
      : new ClockRestart(process, log, this.#memory);
  }

  get enabled(): boolean {
    return this.#memory.enabled ?? ("enabled" in this.config ? this.config.enabled : true);
  }

  /** The next due time in milliseconds since the epoch; null while disabled. */
  get nextAt(): number | null {
    return this.enabled ? this.#next : null;
  }

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

  /** The next due times, enabled or not. */
  moments(count: number): Date[] {
    const found: Date[] = [];
    for (let at = this.#next; at !== null && found.length < count; at = this.#schedule.next(at)) {
      found.push(new Date(at));
    }
    return found;
  }

  /** Checks the clock, and acts if a time is due. */
  look(): void {
    const now = this.#clock.now();
    const isSetBack = this.#memory.covered - now > SET_BACK_MS;
    if (!isSetBack && (this.#next === null || now < this.#next)) return;
    const { due, covered, next } = tick(this.#schedule, this.#memory.covered, now);
    const unsaved = this.#memory = { ...this.#memory, covered };
    this.#next = next;
    if (due === null || !this.enabled) return;
    // It records what it is about to do, and with that the due time: both are done once.
    this.#runner.due();
    if (this.#memory === unsaved) this.#remember({});
  }

  /** Acts now, regardless of the clock. Throws `wrong_state`. */
  run(): "running" | "queued" {
    return this.#runner.run();
  }

  enable(enabled: boolean): void {
    // Due times that passed while it was disabled are skipped.
    const { covered, next } = tick(this.#schedule, this.#memory.covered, this.#clock.now());
    this.#next = next;
    this.#remember({ enabled, covered });
    if (!enabled) this.#runner.dropNext();
  }

  /** Call it after each change of the process. */
  changed(before: Snapshot): void {
    this.#runner.changed(before);
  }

  /** Stops its timers. */
  close(): void {
    this.#runner.close();
  }

  /** Call it when the process was removed. */
  forget(): void {
    this.#forgotten = true;
    this.#store.remove(this.process.id);
  }

  #remember(news: Partial<CronMemory>): void {
    this.#memory = { ...this.#memory, ...news };
    if (!this.#forgotten) this.#store.write(this.process.id, this.#memory);
  }
}

/** A due time that passed longer ago than this is skipped. */
const GRACE_MS = 30_000;

/** After a smaller step back of the clock, a schedule waits; after a larger one, it starts over. */
const SET_BACK_MS = 3 * 3_600_000;

/** The result of checking the clock. */
interface Tick {
  /** The due time; null if none. Several passed due times count as one. */
  readonly due: number | null;
  /** Times up to this one are handled, and never due again. */
  readonly covered: number;
  /** The next due time; null if never. */
  readonly next: number | null;
}

/** Checks the clock. Times up to `covered` were handled earlier. */
function tick(schedule: Schedule, covered: number, now: number): Tick {
  const known = covered - now > SET_BACK_MS ? now : covered;
  const moment = schedule.next(Math.max(known, now - GRACE_MS));
  const due = moment !== null && moment <= now ? moment : null;
  const after = Math.max(known, now);
  return { due, covered: after, next: schedule.next(after) };
}
