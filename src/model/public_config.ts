/** The configuration types that every entry point exports. */

export type {
  ConfigInput,
  ConfigInputKey,
  ConfigInputValue,
  ConfigShorthand,
  ProcessConfigInput,
} from "./config_input.ts";
export type {
  CronConfig,
  CronRestartConfig,
  DependencyCondition,
  HealthCheckConfig,
  HookConfig,
  HookName,
  HooksConfig,
  LimitsConfig,
  LogConfig,
  ProcessConfig,
  RestartPolicy,
  RuntimeName,
  SecretSource,
  WatchConfig,
} from "./process_config.ts";
export { SIGNAL_NAMES, type SignalName } from "./signal.ts";
