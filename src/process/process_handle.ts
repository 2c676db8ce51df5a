/** A process, as the modules that work on it see it, and requests to it. */

import { ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, Snapshot } from "../model/process_state.ts";
import type { Clock } from "../platform/clock.ts";
import type { Background } from "../platform/process_group.ts";

/** One supervised process. */
export interface ProcessHandle {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  /** The configuration of a generation. */
  specOf(generation: number): ProcessConfig;
  readonly clock: Clock;
  /** Milliseconds since the launch; 0 while nothing runs. */
  readonly uptimeMs: number;
  /** True if its app has ended, even if the snapshot is still that of a running app. */
  readonly hasEnded: boolean;
  /** What an app that ended by itself has left in the background; resolves when that is ended. */
  background(): Promise<Background | undefined>;
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

export interface StopRequest {
  readonly timeoutMs?: number;
  readonly reason?: string;
  /** Requested by its own schedule, which continues: the next run still takes place. */
  readonly bySchedule?: boolean;
  /** Called once it is stopped, unless it was started again. Until it resolves, its schedule starts nothing. */
  readonly then?: () => Promise<void>;
}

/** A request to replace the run by one of another generation; see `ManagedProcess.replace()`. */
export interface ReplaceOptions extends RestartOptions {
  readonly generation: number;
}

export interface HookOrigin {
  /** In snake case, as the hook knows it. */
  readonly event: string;
  /** UUID of its process. */
  readonly id: string;
}

export interface UpOptions {
  /** The hook that makes the request, if any. */
  readonly askedIn?: HookOrigin | undefined;
  /**
   * With `true`, resolve when it is ready or, without a readiness check, up for `min_uptime`. With
   * `false`, a start resolves while `pre_start` runs. Undefined: when the app is launched.
   */
  readonly wait?: boolean | undefined;
}

export interface RestartOptions extends UpOptions {
  /** Why, in words. */
  readonly reason?: string;
}

/** Hooks that are part of a restart or reload: requesting another one in them would never end. */
const PART_OF_IT: ReadonlySet<string> = new Set(["pre_start", "pre_restart", "pre_reload"]);

/** Throws `wrong_state` if a hook of a restart or reload requests another of its own process. */
export function refuseEndless(
  verb: "restart" | "reload",
  { id, name }: { readonly id: string; readonly name: string },
  { askedIn }: UpOptions,
): void {
  if (askedIn?.id !== id || !PART_OF_IT.has(askedIn.event)) return;
  const { event } = askedIn;
  throw new ProcsupError(
    "wrong_state",
    `Cannot ${verb} "${name}" in its own ${event} hook: that would run the hook again, without end`,
  );
}
