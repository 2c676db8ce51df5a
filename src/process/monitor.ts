/** A run, as its monitors see it: readiness, health checks, watch, age. */

import type { SignalName } from "../model/signal.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, Run, Snapshot } from "../model/process_state.ts";
import type { LogFiles } from "../logs/log_files.ts";
import type { HookContext } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import type { World } from "./world.ts";

/** The process whose run is monitored. */
export interface MonitoredRun {
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  readonly world: World;
  readonly run: Run;
  readonly attempt: number;
  /** Whether an earlier daemon launched it. */
  readonly isAdopted: boolean;
  readonly logs: LogFiles;
  readonly uptimeMs: number;
  /** Resolves when it is ready. Rejects when `signal` is aborted. */
  untilReady(signal: AbortSignal): Promise<unknown>;
  hookContext(): HookContext;
  post(input: Input): void;
  /** Reports a message that changes no state. */
  note(message: string): void;
  /** Restarts it, with its hooks. */
  restart(reason: string): void;
  /** The health checks of this process. */
  readonly journal: Pick<Journal, "checked" | "checks">;
  healthChanged(health: "healthy" | "unhealthy", reason: string): void;
  signal(signal: SignalName): boolean;
}

/** Works beside a run until stopped. */
export interface Monitor {
  stop(): void;
}
