/**
 * A client of a running procsup daemon, over its Unix socket or its web listener.
 *
 * ```ts ignore
 * import { Client } from "@procsup/procsup/client";
 *
 * const client = new Client(); // or: new Client({ url: "http://127.0.0.1:9615", token })
 * const api = await client.start({ name: "api", script: "/srv/api.ts" }, { wait: true });
 * for (const { name, state, pid } of await client.list()) console.log(name, state, pid);
 * for await (const { stream, line } of api.lines({ follow: true })) console.log(stream, line);
 * ```
 *
 * Permissions: for the socket of a home H `--allow-read=H --allow-write=H
 * --allow-net=unix:H/procsup.sock`, and `--allow-env=PROCSUP_HOME,HOME` unless H is given; for a URL
 * `--allow-net=HOST:PORT`. What is missing is named by a `ProcsupError` with the code `forbidden`.
 *
 * @module
 */

export { Client } from "./client/client.ts";
export type {
  ClientOptions,
  ConfigChanges,
  EventQuery,
  MetricsQuery,
  ReconfigureOptions,
  SocketOptions,
  UrlOptions,
} from "./client/options.ts";
export type {
  ActionResult,
  Cron,
  CronResult,
  CronRun,
  FieldChange,
  HealthCheck,
  History,
  HookRun,
  MetricsHistory,
  MetricsPoint,
  MetricsSeries,
  Ping,
  Ports,
  ReconfigureResult,
  SystemInfo,
  SystemMetrics,
  Why,
} from "./client/answers.ts";
export { freePort, type PortOptions, waitForPort } from "./library/ports.ts";
export { Process, type ProcessVerbs } from "./library/process.ts";
export { type LaunchOptions, ProcessHost } from "./library/process_host.ts";
export type {
  CallOptions,
  ConfigSet,
  JobInput,
  JobResult,
  LineFilter,
  LineOptions,
  OutputLine,
  Resurrected,
  RollingOptions,
  RunOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "./library/options.ts";
export type { DurationInput } from "./model/duration.ts";
export { ProcsupError } from "./model/errors.ts";
export type { ErrorCode, ErrorDetails } from "./model/errors.ts";
export type { Health } from "./model/health.ts";
export type { ChangeType, ProcessChange } from "./model/process_change.ts";
export type {
  ConfigInput,
  ConfigInputKey,
  ConfigInputValue,
  ConfigShorthand,
  ProcessConfigInput,
} from "./model/config_input.ts";
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
} from "./model/process_config.ts";
export type { Exit, ProcessInfo, ProcessState, Usage } from "./model/process_info.ts";
export type { SignalName } from "./model/signal.ts";
export { type FailedStart, type LastWords, StartFailedError } from "./model/start_failed.ts";
export { AmbiguousTargetError } from "./model/target.ts";
export type { LogLevel, LogStream } from "./model/log_line.ts";
export type { WaitPoint } from "./model/wait_point.ts";
