/** Exports common to the library and the client. */

export { freePort, type PortOptions, waitForPort } from "./ports.ts";
export { type LaunchOptions, Process, ProcessHost, type VerbOptions } from "./process_host.ts";
export type * from "./options.ts";
export type { DurationInput } from "../model/duration.ts";
export { ProcsupError } from "../model/errors.ts";
export type { ErrorCode, ErrorDetails } from "../model/errors.ts";
export type { Health } from "../model/health.ts";
export type { LineFilter, LogLevel, LogStream } from "../model/log_line.ts";
export type { ChangeType, ProcessChange } from "../model/process_change.ts";
export type { Exit, ProcessInfo, ProcessState, Usage, WaitPoint } from "../model/process_info.ts";
export * from "../model/public_config.ts";
export { type FailedStart, type LastWords, StartFailedError } from "../model/start_failed.ts";
export { AmbiguousTargetError } from "../model/target.ts";
