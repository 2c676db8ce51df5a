/** Options of the library's manager. */

import type { Clock } from "../platform/clock.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import type { LineFilter } from "../model/log_line.ts";

/** Options of `Manager.open()`. */
export interface ManagerConfig {
  /** Directory for logs and saved state, used by one manager. Default: `$TMPDIR/procsup-<uid>`. */
  readonly logDir?: string;
  /** Values for all processes that do not set them themselves. */
  readonly defaults?: ProcessDefaults;
  /** Called with warnings of the supervisor; ignored by default. */
  readonly warn?: (message: string) => void;
  /**
   * `stop`, the default: `close()` stops the processes. A program that ends without it, such as by
   * `Deno.exit()`, sends them their stop signal; one that is killed leaves them running. `leave`:
   * they keep running, and the next manager on the directory adopts them.
   */
  readonly onExit?: "stop" | "leave";
  /**
   * Signals that close the manager and then end the program; a second signal kills all processes.
   * `true` means SIGINT, SIGTERM and SIGHUP. Default: none.
   */
  readonly signals?: boolean | readonly Deno.Signal[];
}

/** Additional options of the daemon. Not exported by the library. */
export interface SupervisorConfig extends ManagerConfig {
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Called with all events, including those while opening. */
  readonly onNews?: (change: ProcessChange) => void;
  /** Default of the key `stdin`; false if unset. */
  readonly stdin?: boolean;
  /** Called within a second after a file of the home was created or removed. */
  readonly onHomeChanged?: () => void;
  /** Called when another supervisor has taken the home. Default: `release()`. */
  readonly onHomeLost?: () => void;
}

/** Options of reading a log. */
export interface LogOptions extends Omit<LineFilter, "grep"> {
  /** Number of last lines to deliver first; 0, the default, means all. */
  readonly tail?: number;
  /**
   * Continue with new lines until the process is removed or the manager closed, up to the last
   * line. Cannot be used with `until`.
   */
  readonly follow?: boolean;
  /** Standard error instead of standard output. */
  readonly stderr?: boolean;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Only new lines, none that exist already. */
  readonly newOnly?: boolean;
  /** Only lines that match. */
  readonly grep?: string | RegExp;
}

/** Options of reading events. */
export interface EventOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined;
}
