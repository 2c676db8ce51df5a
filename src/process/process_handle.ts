/** A process, as the modules that work on it see it. */

import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import type { RestartOptions, StopRequest } from "./requests.ts";

/** One supervised process. */
export interface ProcessHandle {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  /** Milliseconds since the launch; 0 while nothing runs. */
  readonly uptimeMs: number;
  /** True if its app has ended, even if the snapshot is still that of a running app. */
  readonly hasEnded: boolean;
  /** Whether it is expected to end by itself. */
  readonly mayEnd: boolean;
  /** Whether a stop is in progress: its schedule must not start it meanwhile. */
  readonly isBeingStopped: boolean;
  start(options?: RestartOptions): Promise<void>;
  restart(options?: RestartOptions): Promise<void>;
  stop(request?: StopRequest): Promise<void>;
  post(input: Input): void;
  /** Resolves with the first snapshot, the present one included, that fulfils the condition. */
  until(condition: (now: Snapshot) => boolean, signal?: AbortSignal): Promise<Snapshot>;
  /** Calls `act` once the current state is recorded: at once, unless the disk refused. */
  whenRecorded(act: () => void): void;
  /** Reports a message that changes no state. */
  note(message: string): void;
  healthChanged(health: "healthy" | "unhealthy", reason: string): void;
  /** Resolves when all dependencies are ready; throws the reason if one cannot become ready. */
  dependencies(signal: AbortSignal): Promise<void>;
}
