/** The action of a schedule on its process at a due time. */

import type { Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import type { ProcessHandle } from "../process/process_handle.ts";
import type { CronRun } from "./scheduler_store.ts";

/** The parts of a process that schedules use. */
export type ScheduledProcess = Pick<
  ProcessHandle,
  "id" | "name" | "config" | "snapshot" | "isBeingStopped" | "start" | "restart" | "stop"
>;

/** Records what a runner does. */
export interface RunLog {
  readonly clock: Clock;
  /** Records the start of the current run; null if none. */
  running(since: number | null): void;
  /** Records that the current run is stopped because of its time limit. */
  timedOut(): void;
  /** Records whether another run follows the current one. */
  again(again: boolean): void;
  ended(run: CronRun): void;
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
