/** What the library's manager is told. */

import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import type { LogLevel } from "../model/log_line.ts";
import type { WaitPoint } from "../model/wait_point.ts";

/** What a manager is made with. */
export interface ManagerConfig {
  /** Directory for logs and saved state; default `$TMPDIR/procsup-<uid>`. One manager at a time. */
  readonly logDir?: string;
  /** Values for all processes that do not set them themselves. */
  readonly defaults?: ProcessDefaults;
  /** Gets what the supervisor itself has to say; default: nothing is said. */
  readonly warn?: (message: string) => void;
}

/** What the daemon asks for besides. Not exported by the library. */
export interface SupervisorConfig extends ManagerConfig {
  /** Gets all news, what is found out while opening included. */
  readonly onNews?: (change: ProcessChange) => void;
  /** Whether standard input stays open for apps that do not say; default false. */
  readonly stdin?: boolean;
  /** Called within a second when a file of the home was made or removed. */
  readonly onHomeChanged?: () => void;
  /** Called when another supervisor has taken the home; default: the manager lets go of everything. */
  readonly onHomeLost?: () => void;
}

/** Where Go takes a context: ends the waiting, not what has begun. */
export interface CallOptions {
  /** Aborted, the promise is rejected with its reason; aborted before, nothing is done. */
  readonly signal?: AbortSignal;
}

/** How a start is meant. */
export interface StartOptions extends CallOptions {
  /**
   * Resolve only when it is ready or, where no readiness is configured, has stayed up for its
   * `minUptime`; default: at the spawn.
   */
  readonly wait?: boolean;
}

/** What is waited for. */
export interface WaitOptions extends CallOptions {
  /**
   * `running`, `ready` (the default), `stopped`, or `exit`: at rest for good, be it stopped, crashed
   * or given up.
   */
  readonly for?: WaitPoint;
}

/** How a reload batch by batch is meant. */
export interface RollingOptions extends CallOptions {
  /** Instances at a time: a number, or a part such as `"25%"`; default 1. */
  readonly batchSize?: number | string;
  /** Go on only when the batch is ready; default true. */
  readonly waitReady?: boolean;
  /** Put the old ones back on all when one fails; default false. */
  readonly rollbackOnFailure?: boolean;
}

/** How a log is read. */
export interface LogOptions {
  /** Deliver that many of the last lines first; 0, the default, means all. */
  readonly tail?: number;
  /**
   * Go on with what is written from now on, until the process is removed or the manager closed: the
   * stream ends then with what was written last. Goes with no `until`.
   */
  readonly follow?: boolean;
  /** Standard error instead of standard output. */
  readonly stderr?: boolean;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
  /** Nothing of what is there, only what is written from now on. */
  readonly newOnly?: boolean;
  /** Only lines from then on, archives included: a time, or how long ago (`"10m"`). */
  readonly since?: string | Date;
  /** Only lines up to then. */
  readonly until?: string | Date;
  /** Only lines that match. */
  readonly grep?: string | RegExp;
  /** With `grep`: only lines that do not. */
  readonly invert?: boolean;
  /** With `grep`: capital and small letters match each other. */
  readonly ignoreCase?: boolean;
  /** Only lines of that level and graver ones, with their stack traces. */
  readonly level?: LogLevel;
}

/** How the list of processes is saved. */
export interface SaveOptions extends CallOptions {
  /** Save even when there is nothing to save but something was saved before; default: refuse. */
  readonly allowEmpty?: boolean;
}

/** How news are read. */
export interface EventOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
}
