/** Options of the library's manager. */

import type { Clock } from "../platform/clock.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import type { LineFilter } from "../model/log_line.ts";

/** What a manager is made with. */
export interface ManagerConfig {
  /** Directory for logs and saved state; default `$TMPDIR/procsup-<uid>`. One manager at a time. */
  readonly logDir?: string;
  /** Values for all processes that do not set them themselves. */
  readonly defaults?: ProcessDefaults;
  /** Gets what the supervisor itself has to say; default: nothing is said. */
  readonly warn?: (message: string) => void;
  /**
   * What `close()` does with the processes: `stop`, the default, or `leave` them running, for the next
   * manager on the directory to take up. A program that ends without `close()`, by `Deno.exit()`,
   * sends them their stop signal under `stop`; one that is killed leaves them.
   */
  readonly onExit?: "stop" | "leave";
  /**
   * Signals that close the manager and then end the program, a second one by SIGKILL for all; `true`:
   * SIGINT, SIGTERM and SIGHUP. Default: none, they are the program's.
   */
  readonly signals?: boolean | readonly Deno.Signal[];
}

/** What the daemon asks for besides. Not exported by the library. */
export interface SupervisorConfig extends ManagerConfig {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Gets all news, what is found out while opening included. */
  readonly onNews?: (change: ProcessChange) => void;
  /** Whether standard input stays open for apps that do not say; default false. */
  readonly stdin?: boolean;
  /** Called within a second when a file of the home was made or removed. */
  readonly onHomeChanged?: () => void;
  /** Called when another supervisor has taken the home; default: the manager lets go of everything. */
  readonly onHomeLost?: () => void;
}

/** How a log is read. */
export interface LogOptions extends Omit<LineFilter, "grep"> {
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
  /** Only lines that match. */
  readonly grep?: string | RegExp;
}

/** How news are read. */
export interface EventOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
}
