/** What a schedule does with its process when a moment is due. */

import type { ProcessConfig } from "../model/process_config.ts";
import type { Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import type { RestartOptions, StopRequest } from "../process/requests.ts";
import type { CronRun } from "./scheduler_store.ts";

/** A process, as schedules use it. */
export interface Schedulable {
  readonly id: string;
  readonly name: string;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  /** Whether a stop is under way, of which the schedule must start nothing. */
  readonly isBeingStopped: boolean;
  start(options?: RestartOptions): Promise<void>;
  restart(options?: RestartOptions): Promise<void>;
  stop(request?: StopRequest): Promise<void>;
}

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
  /** Somebody asks for a run now. Throws `wrong_state`. */
  run(): "running" | "queued";
  /** The process went from `before` to what it is now. */
  changed(before: Snapshot): void;
  close(): void;
}
