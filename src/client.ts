/**
 * A client of a running procsup daemon, over its Unix socket or its web listener.
 *
 * ```ts ignore
 * import { Client } from "@procsup/procsup/client";
 *
 * const client = new Client(); // or: new Client({ url: "http://127.0.0.1:9615", token })
 * await client.start({ name: "api", script: "/srv/api.ts" });
 * for (const { name, state, pid } of await client.list()) console.log(name, state, pid);
 * for await (const { type, name } of await client.events()) console.log(name, type);
 * ```
 *
 * Data is as it stands on the wire: snake_case, times as ISO 8601, `uptime` in nanoseconds.
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
  LineFilter,
  LogQuery,
  MetricsQuery,
  ReconfigureOptions,
  RollingOptions,
  SaveOptions,
  SocketOptions,
  StartOptions,
  StopOptions,
  StreamQuery,
  UrlOptions,
  WaitOptions,
} from "./client/options.ts";
export type { CallOptions } from "./client/transport.ts";
export type {
  ActionResult,
  BulkResult,
  ConfigChangeJson,
  CronJson,
  CronResult,
  CronRunJson,
  ExitJson,
  FieldChangeJson,
  HealthCheckJson,
  HistoryJson,
  HookRunJson,
  LogsJson,
  MetricsHistoryJson,
  MetricsPointJson,
  MetricsSeriesJson,
  PingJson,
  PortsJson,
  ProcessJson,
  ReconfigureResult,
  ResurrectJson,
  RollingResultJson,
  SystemInfoJson,
  SystemMetricsJson,
  WhyJson,
} from "./protocol/wire.ts";
export type { ChangeJson } from "./protocol/change_json.ts";
export { ProcsupError } from "./model/errors.ts";
export type { ErrorCode } from "./model/errors.ts";
export { type FailedStart, StartFailedError } from "./model/start_failed.ts";
export { AmbiguousTargetError } from "./model/target.ts";
export type { LogLevel, LogLine, LogStream } from "./model/log_line.ts";
export type { WaitPoint } from "./model/wait_point.ts";
