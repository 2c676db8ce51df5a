/** One process with a schedule. */

import type { Schedule, ScheduleOwner } from "../model/cron.ts";
import { formatDuration } from "../model/duration.ts";
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
  /** The due time since which a run is missing; null if none is. */
  readonly overdueSince: Date | null;
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
  readonly #overdue: (reason: string) => void;
  #memory: CronMemory;
  #next: number | null;
  #forgotten = false;

  /** `before` is the closed entry of the schedule before a change. */
  constructor(
    process: ScheduledProcess,
    schedule: Schedule,
    { clock, store, overdue }: EntryParts,
    before?: ScheduleEntry,
  ) {
    this.process = process;
    this.config = scheduleOf(process.config)!;
    this.#schedule = schedule;
    this.#overdue = (reason) => overdue(process, reason);
    this.#clock = clock;
    this.#store = store;
    this.#memory = store.read(process.id);
    // A due time that passed while this daemon replaced another one is still due. If the clock was
    // set back meanwhile, due times up to `covered` were handled already.
    const { due, missed, covered, next } = this.#tick();
    const isNew = before !== undefined || this.#memory.covered === 0;
    this.#next = isNew ? next : due ?? next;
    if (isNew) this.#remember({ covered, overdueSince: null });
    else if (missed !== null && this.enabled) this.#isMissing(missed, covered);
    const log = {
      clock,
      remember: (news: Partial<CronMemory>) => this.#remember({ ...this.#begun(news), ...news }),
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
      overdueSince: dateOf(this.#memory.overdueSince),
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
    const { covered: before, runningSince } = this.#memory;
    const isSetBack = before - now > this.#schedule.setBackMs;
    if (!isSetBack && (this.#next === null || now < this.#next)) return;
    const { due, missed, covered, next } = this.#tick();
    const unsaved = this.#memory = { ...this.#memory, covered };
    this.#next = next;
    if (!this.enabled) return;
    if (missed !== null) this.#isMissing(missed, covered);
    if (due === null) return;
    // The run was not over at the due time ahead either.
    if (runningSince !== null && runningSince < before) this.#isMissing(before);
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
    const { covered, next } = this.#tick();
    this.#next = next;
    this.#remember({ enabled, covered, overdueSince: null });
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

  /** With the begin of another run, none is missing any more. */
  #begun({ runningSince }: Partial<CronMemory>): Partial<CronMemory> {
    const isNew = typeof runningSince === "number" && runningSince !== this.#memory.runningSince;
    return isNew ? { overdueSince: null } : {};
  }

  #tick(): Tick {
    const catchesUp = "catchUp" in this.config && this.config.catchUp === "once";
    return tick(this.#schedule, this.#memory.covered, this.#clock.now(), catchesUp);
  }

  /** Tells it once, until a run begins. */
  #isMissing(since: number, covered = this.#memory.covered): void {
    if (this.#memory.overdueSince !== null) return;
    this.#remember({ overdueSince: since, covered });
    const late = formatDuration(Math.round((this.#clock.now() - since) / 1000) * 1000);
    const why = this.#runner?.busy ? "the last run is not over" : "no daemon acted at that time";
    this.#overdue(`due ${late} ago: ${why}`);
  }

  #remember(news: Partial<CronMemory>): void {
    this.#memory = { ...this.#memory, ...news };
    if (!this.#forgotten) this.#store.write(this.process.id, this.#memory);
  }
}

/** What an entry needs of the scheduler. */
interface EntryParts {
  readonly clock: Clock;
  readonly store: CronStore;
  readonly overdue: (process: ScheduledProcess, reason: string) => void;
}

/** What the schedule of a process is counted and derived from. */
export function ownerOf({ id, identity }: ScheduledProcess): ScheduleOwner {
  return { id, createdAt: identity.createdAt.getTime() };
}

function dateOf(at: number | null): Date | null {
  return at === null ? null : new Date(at);
}

/** A due time that passed longer ago than this is missed. */
const GRACE_MS = 30_000;

/** The result of checking the clock. */
interface Tick {
  /** The due time; null if none. Several passed due times count as one. */
  readonly due: number | null;
  /** The first due time that passed, if nothing makes up for it. */
  readonly missed: number | null;
  /** Times up to this one are handled, and never due again. */
  readonly covered: number;
  /** The next due time; null if never. */
  readonly next: number | null;
}

/** Checks the clock. Times up to `covered` were handled earlier. */
function tick(schedule: Schedule, covered: number, now: number, catchesUp: boolean): Tick {
  const known = covered - now > schedule.setBackMs ? now : covered;
  const passed = (from: number) => {
    const moment = schedule.next(from);
    return moment !== null && moment <= now ? moment : null;
  };
  const recent = passed(Math.max(known, now - GRACE_MS));
  const first = recent ?? passed(known);
  const due = recent ?? (catchesUp ? first : null);
  const after = Math.max(known, now);
  return { due, missed: due === null ? first : null, covered: after, next: schedule.next(after) };
}
