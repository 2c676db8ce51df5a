/** What a schedule does with its process when a moment is due. */

import type { Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import type { ProcessHandle } from "../process/process_handle.ts";
import type { CronRun } from "./scheduler_store.ts";

/** A process, as far as schedules use it. */
export type ScheduledProcess = Pick<
  ProcessHandle,
  "id" | "name" | "config" | "snapshot" | "isBeingStopped" | "start" | "restart" | "stop"
>;

/** Where a runner tells what happens. */
export interface RunLog {
  readonly clock: Clock;
  /** A run is under way since then; null: none is. */
  running(since: number | null): void;
  /** Whether another run is to follow the one under way. */
  again(again: boolean): void;
  ended(run: CronRun): void;
}

/** Acts for one schedule. */
export interface Runner {
  readonly busy: boolean;
  /** A moment of the schedule has come. */
  due(): void;
  /** Starts a run on request. Throws `wrong_state`. */
  run(): "running" | "queued";
  /** The process went from `before` to what it is now. */
  changed(before: Snapshot): void;
  close(): void;
}
