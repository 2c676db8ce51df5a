/** A run, as its monitors see it: readiness, health checks, age, memory. */

import type { SignalName } from "../model/signal.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, Run } from "../model/process_state.ts";
import type { LogFiles } from "../logs/write/log_files.ts";
import type { HookContext } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import type { World } from "../platform/world.ts";

export interface RunView {
  readonly config: ProcessConfig;
  readonly world: World;
  readonly run: Run;
  /** Of the app itself. Stays unresolved if that ends before its pid is known. */
  readonly pid: Promise<number>;
  readonly attempt: number;
  /** Whether an earlier daemon launched it. */
  readonly isAdopted: boolean;
  readonly logs: LogFiles;
  readonly isReady: boolean;
  readonly uptimeMs: number;
  /** How long this daemon has watched the run. */
  readonly watchedMs: number;
  /** Resolves when it is ready. Rejects when `signal` is aborted. */
  untilReady(signal: AbortSignal): Promise<unknown>;
  hookContext(): HookContext;
  /** Reports readiness, and why it must be replaced. */
  post(input: Input): void;
  /** Reports a message that changes no state. */
  note(message: string): void;
  /** The health checks of its process. */
  readonly journal: Pick<Journal, "checked" | "checks">;
  healthChanged(health: "healthy" | "unhealthy", reason: string): void;
  signal(signal: SignalName): boolean;
}

/** What differs between the current run of a process and a second one. */
export type RunParts =
  & Omit<
    RunView,
    "pid" | "isReady" | "uptimeMs" | "watchedMs" | "world" | "logs" | "hookContext" | "note"
  >
  & { pid(): Promise<number>; isReady(): boolean; uptime(): number };

/** Works beside a run until stopped. */
export interface Monitor {
  stop(): void;
}
