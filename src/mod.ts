/**
 * procsup as a library: the supervisor of the `procsup` program, in this process. No daemon, no token.
 *
 * @module
 */

export { Manager } from "./manager/manager.ts";
export type { LogOptions, ManagerConfig } from "./manager/manager.ts";
export type { Resurrected } from "./manager/saved_state.ts";
export { ProcsupError } from "./model/errors.ts";
export type { ErrorCode } from "./model/errors.ts";
export { AmbiguousTargetError } from "./model/target.ts";
export type { ChangeType, ProcessChange } from "./model/process_change.ts";
export type {
  ProcessConfig,
  ProcessConfigInput,
  ProcessDefaults,
  RestartPolicy,
  RuntimeName,
} from "./model/process_config.ts";
export type { Exit, ProcessInfo, ProcessState, Usage } from "./model/process_info.ts";
