/** Checks the options that a program passes to the library's manager. */

import { checkOptions, checkReading, READING_KEYS, refuseUnknown } from "../library/known_keys.ts";
import { parseConfig } from "../model/config_schema.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import { quote } from "../model/quote.ts";
import { parseSignal, type SignalName } from "../model/signal.ts";
import type { LogOptions, SupervisorConfig } from "./manager_options.ts";
import { wireDefaults } from "./check_config.ts";

const KEYS: readonly (keyof SupervisorConfig)[] = [
  ...["logDir", "defaults", "warn", "onExit", "signals"] as const,
  ...["clock", "onNews", "stdin", "onHomeChanged", "onHomeLost"] as const,
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
  const deaf = names.find((name) => NEVER_SEEN.includes(parseSignal(name)));
  if (deaf !== undefined) {
    throw invalid(`Invalid "signals" ${quote(deaf)}: no program can listen for it`);
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
