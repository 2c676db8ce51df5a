/** Exports common to the library and the client. */

export { freePort, type PortOptions, waitForPort } from "./ports.ts";
export { type LaunchOptions, Process, ProcessHost, type VerbOptions } from "./process_host.ts";
export type * from "./options.ts";
export type { DurationInput } from "../model/duration.ts";
export { type ErrorCode, type ErrorDetails, type Mistake, ProcsupError } from "../model/errors.ts";
export type { Hint, HintCommand } from "../model/hint.ts";
export { hintText } from "./words.ts";
export { type FailedStart, type LastWords, StartFailedError } from "../model/start_failed.ts";
export type { ReleaseFailure, ReleaseInfo } from "../model/app.ts";
export type { Health } from "../model/health.ts";
export type { LineFilter, LogLevel, LogStream } from "../model/log_line.ts";
export type {
  ChangeType,
  EndCause,
  Exit,
  ProcessChange,
  ProcessInfo,
  ProcessState,
  Usage,
  WaitPoint,
} from "../model/process_info.ts";
export type * from "../model/config_input.ts";
export type * from "../model/process_config.ts";
export { SIGNAL_NAMES, type SignalName } from "../model/signal.ts";
export { AmbiguousTargetError } from "../model/target.ts";
