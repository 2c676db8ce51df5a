/** What a schedule does to its process at a due time: runs a job, or restarts an app. */

import { formatDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { CronConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { settled } from "../process/start_and_wait.ts";
import type { Cancel, Clock } from "../platform/clock.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { CronMemory, CronRun, RunStatus } from "./schedule_store.ts";

/** The parts of a process that schedules use. */
export type ScheduledProcess =
  & Pick<
    ManagedProcess,
    | "id"
    | "name"
    | "config"
    | "snapshot"
    | "isBeingStopped"
    | "start"
    | "restart"
    | "stop"
    | "until"
  >
  & { readonly identity: { readonly createdAt: Date } };

/** Records what a runner does. */
interface RunLog {
  readonly clock: Clock;
  remember(news: Partial<LeftRun>): void;
  ended(run: CronRun): void;
}

/** What is recorded at the start of a run, or at its end: null. */
function running(since: number | null): Partial<LeftRun> {
  return { runningSince: since, timedOut: false, starting: null };
}

/** Acts on the process of one schedule. */
export interface Runner {
  readonly busy: boolean;
  /** Acts at a due time. */
  due(): void;
  /** Starts a run on request. Throws `wrong_state`. */
  run(): "running" | "queued";
  /** Drops the run that waits for the current one, if any. */
  dropNext(): void;
  /** Call it after each change of the process; `before` is its snapshot before the change. */
  changed(before: Snapshot): void;
  close(): void;
}

/** The recorded state of a job of an earlier daemon. */
type LeftRun = Pick<CronMemory, "runningSince" | "timedOut" | "again" | "starting">;

/**
 * `cron`: runs a process by the clock. A run lasts from the start until the process is at rest,
 * including restarts by its policy. Runs are detected by the changes of the process, so runs that a
 * user or an earlier daemon started count too.
 */
export class Job implements Runner {
  readonly #process: ScheduledProcess;
  readonly #config: CronConfig;
  readonly #log: RunLog;
  /** Start of the current run on the wall clock and on the steady clock. */
  #run: { readonly at: number; readonly steady: number } | undefined;
  /** Why this class is stopping the run. */
  #ending: "timeout" | "killed" | undefined;
  #again = false;
  #closed = false;
  #cancelTimeout: Cancel = () => {};

  /** Continues the run that an earlier daemon left, and the run queued after it. */
  constructor(process: ScheduledProcess, config: CronConfig, log: RunLog, left: LeftRun) {
    this.#process = process;
    this.#config = config;
    this.#log = log;
    const { snapshot } = process;
    // Between the two records of a start, the daemon was killed: it was not begun, or is over.
    const { starting } = left;
    this.#again = left.again || !isActive(snapshot) && starting === snapshot.attempt;
    const isOver = starting !== null && starting < snapshot.attempt;
    const since = left.runningSince ?? (isOver ? snapshot.startedAt : null);
    // An app that became a job is still being stopped.
    const isAppsRun = since === null && snapshot.state === "stopping" &&
      snapshot.desired === "down";
    if (isAppsRun) return;
    if (isActive(snapshot)) this.#begin(since ?? snapshot.startedAt ?? log.clock.now());
    else {
      if (since !== null) {
        if (left.timedOut) this.#ending = "timeout";
        const tookMs = Math.max(0, (snapshot.finishedAt ?? since) - since);
        this.#record({ at: since, steady: log.clock.steady() - tookMs });
        this.#ending = undefined;
      }
      this.#next();
    }
  }

  get busy(): boolean {
    return this.#run !== undefined;
  }

  due(): void {
    const { overlap } = this.#config;
    const skips = this.#process.isBeingStopped;
    if (!this.busy && !skips) this.#start("by schedule");
    else if (overlap === "kill" && !skips) this.#replace();
    else if (overlap === "queue" && !skips) this.#follow(true);
    else this.#log.ended({ at: this.#log.clock.now(), durationMs: 0, ...SKIPPED });
  }

  run(): "running" | "queued" {
    const { name, isBeingStopped } = this.#process;
    if (isBeingStopped) throw new ProcsupError("wrong_state", `"${name}" is being stopped`);
    if (!this.busy) this.#start("by cron run");
    else if (this.#config.overlap === "kill") this.#replace();
    else if (this.#config.overlap === "queue") this.#follow(true);
    else throw new ProcsupError("wrong_state", `"${name}" is running already`);
    return this.#again && this.#config.overlap === "queue" ? "queued" : "running";
  }

  dropNext(): void {
    this.#follow(false);
  }

  changed(before: Snapshot): void {
    const now = this.#process.snapshot;
    // Drop the queued run before anything ends: the next daemon must not start it either.
    if (this.#process.isBeingStopped) this.dropNext();
    if (isStartedAnew(before, now)) this.#endAnew();
    if (!isActive(before) && isActive(now)) this.#begin(this.#log.clock.now());
    if (isActive(before) && !isActive(now)) this.#end();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimeout();
  }

  /** A failed start is recorded as a failed run when the process comes to rest. */
  #start(how: string): void {
    this.#log.remember({ starting: this.#process.snapshot.attempt, again: false });
    void this.#process.start({ reason: `started ${how}` }).catch(() => {});
  }

  #replace(): void {
    this.#follow(true);
    this.#stop("killed", "replaced by its next run");
  }

  #stop(why: "timeout" | "killed", reason: string): void {
    this.#ending ??= why;
    if (this.#ending === "timeout") this.#log.remember({ timedOut: true });
    void this.#process.stop({ reason, cause: "schedule" }).catch(() => {});
  }

  #begin(at: number): void {
    const { clock } = this.#log;
    const already = Math.max(0, clock.now() - at);
    this.#run = { at, steady: clock.steady() - already };
    this.#log.remember(running(at));
    const { timeoutMs } = this.#config;
    if (timeoutMs === undefined) return;
    this.#cancelTimeout = clock.after(
      Math.max(0, timeoutMs - already),
      () => this.#stop("timeout", `timed out after ${formatDuration(timeoutMs)}`),
    );
  }

  #end(): void {
    this.#over();
    this.#next();
  }

  /** A user started it again while it was being stopped: a new run begins without a rest. */
  #endAnew(): void {
    if (this.#ending === "killed") this.#follow(false);
    this.#ending ??= "killed";
    this.#over();
    this.#begin(this.#log.clock.now());
  }

  #over(): void {
    this.#cancelTimeout();
    const run = this.#run;
    if (run !== undefined) this.#record(run);
    this.#run = undefined;
    this.#ending = undefined;
  }

  #follow(again: boolean): void {
    if (this.#again !== again) this.#log.remember({ again });
    this.#again = again;
  }

  /** Begins the queued run, if any. */
  #next(): void {
    if (!this.#again) return;
    // Listeners of the change that ended the run are still being called.
    queueMicrotask(() => {
      if (this.#closed || !this.#again) return;
      if (this.busy) return this.#follow(false);
      this.#again = false;
      this.#start("by schedule");
    });
  }

  #record(run: { at: number; steady: number }): void {
    const { snapshot } = this.#process;
    const exit = snapshot.lastExit;
    const isOfThisRun = exit !== null && exit.at.getTime() >= run.at;
    this.#log.remember(running(null));
    this.#log.ended({
      at: run.at,
      durationMs: this.#log.clock.steady() - run.steady,
      status: this.#ending ?? statusOf(snapshot),
      exitCode: isOfThisRun ? exit.code : null,
    });
  }
}

const SKIPPED = { status: "skipped", exitCode: null } as const;

/** After a success the process is stopped, but its desired state is up. */
function statusOf({ state, desired }: Snapshot): RunStatus {
  if (state !== "stopped") return "failed";
  return desired === "up" ? "ok" : "killed";
}

/** Whether a user's restart, or a start during a stop, began a new run. Policy restarts do not. */
function isStartedAnew(before: Snapshot, now: Snapshot): boolean {
  return before.state === "stopping" && before.stopCause === "asked" && now.state !== "stopping" &&
    isActive(now);
}

function isActive(snapshot: Snapshot): boolean {
  return !AT_REST.has(snapshot.state);
}

/** `cron_restart`: restarts a process by the clock, as long as its desired state is up. */
export class ClockRestart implements Runner {
  readonly #process: ScheduledProcess;
  #log: RunLog;
  #busy = false;

  /** Continues the restart that an earlier daemon left. */
  constructor(process: ScheduledProcess, log: RunLog, { runningSince: since }: CronMemory) {
    this.#process = process;
    this.#log = log;
    if (since === null) return;
    const { run, state, startedAt } = process.snapshot;
    const isOldRun = run !== null && (startedAt ?? 0) < since;
    // The daemon was killed before it asked for the restart, with which the process itself goes on.
    if (isOldRun && state !== "stopping" && isFree(process.snapshot)) {
      void this.#restart("by schedule");
    } else void this.#follow(since);
  }

  /** Continues under another schedule: a restart in progress is recorded there. */
  goOn(log: RunLog): this {
    this.#log = log;
    return this;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** Leaves a process alone that a user stopped, or that is being restarted. */
  due(): void {
    if (this.#process.snapshot.desired === "up" && !this.#busy) void this.#restart("by schedule");
  }

  run(): "running" {
    if (this.#busy) {
      throw new ProcsupError("wrong_state", `"${this.#process.name}" is being restarted already`);
    }
    void this.#restart("by cron run");
    return "running";
  }

  dropNext(): void {}

  changed(): void {}

  close(): void {}

  async #restart(how: string): Promise<void> {
    const { clock } = this.#log;
    const [at, begun] = [clock.now(), clock.steady()];
    this.#busy = true;
    this.#log.remember(running(at));
    const ok = await this.#process.restart({ reason: `restarted ${how}`, cause: "schedule" })
      .then(() => true, () => false);
    this.#busy = false;
    this.#ended(at, clock.steady() - begun, ok);
  }

  /** Waits for a restart that the process itself continues. */
  async #follow(since: number): Promise<void> {
    this.#busy = true;
    const isOver = (now: Snapshot) => isFree(now) && settled(now, false);
    const { state } = await this.#process.until(isOver);
    this.#busy = false;
    this.#ended(since, Math.max(0, this.#log.clock.now() - since), !AT_REST.has(state));
  }

  #ended(at: number, durationMs: number, ok: boolean): void {
    this.#log.remember(running(null));
    this.#log.ended({ at, durationMs, status: ok ? "ok" : "failed", exitCode: null });
  }
}

/** Whether no request is under way. */
function isFree({ pending, requests }: Snapshot): boolean {
  return pending === null && requests.length === 0;
}
