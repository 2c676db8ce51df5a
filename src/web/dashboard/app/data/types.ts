/** What the daemon tells the dashboard, and what is kept of it. */

import type { Role } from "../../../../protocol/verbs/verb.ts";
import type { SystemMetricsJson } from "../../../../protocol/wire.ts";
export type {
  ConfigReloadResult,
  CronJson,
  CronRunJson,
  HealthCheckJson,
  HistoryJson,
  HookRunJson,
  MetricsHistoryJson,
  MetricsPointJson,
  PortsJson,
  ProcessJson,
  ReconfigureResult,
  SystemInfoJson,
  WebhookJson,
  WebhookTestJson,
  WhyJson,
} from "../../../../protocol/wire.ts";
export type { DependencyCondition } from "../../../../model/process_config.ts";
export {
  type ProcessState as State,
  STATES_BY_URGENCY as STATES,
} from "../../../../model/process_info.ts";

/** A piece of news. */
export interface EventRow {
  /** Unique in this page. */
  readonly key: string;
  /** A state, or what else befell the process. */
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly name: string;
  readonly reason: string;
}

/** `GET /system/metrics`. A collector that lacks a figure leaves it out. */
export type SystemMetrics =
  & Partial<Omit<SystemMetricsJson, "daemon">>
  & { readonly daemon?: Partial<SystemMetricsJson["daemon"]> };

/** Who is signed in. */
export interface Session {
  readonly name: string;
  readonly role: Role;
}
