/** Options of the library's manager, and their checks. */

import {
  checkOptions,
  checkReading,
  READING_KEYS,
  refuseUnknown,
} from "../library/program_input.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import { parseConfig } from "../model/config_schema.ts";
import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import type { LineFilter } from "../model/log_line.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { parseSignal, type SignalName, signalProblem } from "../model/signal.ts";
import type { AppStdin } from "../platform/launch/app_input.ts";
import type { Clock } from "../platform/clock.ts";
import { wireDefaults } from "./check_config.ts";

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
  /** The standard input of apps without the key `stdin`; false if unset. */
  readonly stdin?: AppStdin;
  /** Called within a second after a file of the home was created or removed. */
  readonly onHomeChanged?: () => void;
  /** Called when another supervisor has taken the home. Default: `release()`. */
  readonly onHomeLost?: () => void;
  /** URL of the dashboard, for hooks of events; undefined while it is not served. */
  readonly dashboard?: () => string | undefined;
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

const KEYS: readonly (keyof SupervisorConfig)[] = [
  ...["logDir", "defaults", "warn", "onExit", "signals"] as const,
  ...["clock", "onNews", "stdin", "onHomeChanged", "onHomeLost", "dashboard"] as const,
];
const DEFAULTS: readonly (keyof ProcessDefaults)[] = [
  "restartPolicy",
  "maxRestarts",
  "restWindow",
  "stopTimeout",
];

/** Signals without a listener: two never arrive, the others Deno keeps to itself. */
const NEVER_SEEN: readonly SignalName[] = ["SIGKILL", "SIGSTOP", "SIGILL", "SIGFPE", "SIGSEGV"];

/**
 * The checked configuration of a manager. Errors that `warn` throws are only reported. Throws
 * `invalid_config` with the invalid key and its value.
 */
export function checkedConfig(config: SupervisorConfig): SupervisorConfig {
  refuseUnknown("configuration", config, KEYS);
  const { logDir, defaults, warn, onExit, signals } = config;
  if (logDir !== undefined && (typeof logDir !== "string" || logDir === "")) {
    throw invalid(`Invalid "logDir" ${quote(logDir)}: expected the path of a directory`);
  }
  if (warn !== undefined && typeof warn !== "function") {
    throw invalid(`Invalid "warn" ${quote(warn)}: expected a function`);
  }
  if (onExit !== undefined && onExit !== "stop" && onExit !== "leave") {
    throw invalid(`Invalid "onExit" ${quote(onExit)}: expected "stop" or "leave"`);
  }
  const names = Array.isArray(signals) ? signals : [];
  for (const name of names) {
    const problem = signalProblem(name) ??
      (NEVER_SEEN.includes(parseSignal(name)) ? "no program can listen for it" : undefined);
    if (problem !== undefined) throw invalid(`Invalid "signals" ${quote(name)}: ${problem}`);
  }
  if (signals !== undefined && typeof signals !== "boolean" && names !== signals) {
    throw invalid(`Invalid "signals" ${quote(signals)}: expected true, or a list of names`);
  }
  if (defaults !== undefined) checkDefaults(defaults);
  return warn === undefined ? config : { ...config, warn: apart(warn) };
}

function checkDefaults(defaults: ProcessDefaults): void {
  refuseUnknown("defaults", defaults, DEFAULTS);
  try {
    parseConfig({ name: "any", entrypoint: "any", cwd: "/", ...wireDefaults(defaults, {}) });
  } catch (error) {
    throw invalid(`In the defaults: ${messageOf(error)}`);
  }
}

/** Reports errors that `warn` throws, so that they do not interrupt the stop of a process. */
function apart(warn: (message: string) => void): (message: string) => void {
  return (message) => {
    try {
      warn(message);
    } catch (error) {
      reportError(error);
    }
  };
}

const LOG_KEYS: readonly (keyof LogOptions)[] = [...READING_KEYS, "stderr"];

/** Throws `bad_request` for invalid options of `logs()` that the log filter does not check. */
export function checkLogOptions(options: LogOptions): void {
  checkReading(checkOptions(options, LOG_KEYS));
}

function invalid(message: string): ProcsupError {
  return new ProcsupError("invalid_config", message);
}
