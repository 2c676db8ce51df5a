/** Types of the daemon's answers. */

import type { Role } from "../../../../protocol/verbs/verb.ts";
import type { EventsJson, SystemMetricsJson } from "../../../../protocol/wire.ts";
export type {
  ConfigReloadResult,
  ContextJson,
  CronJson,
  CronRunJson,
  EventsJson,
  HealthCheckJson,
  HistoryJson,
  HookRunJson,
  LogCountsJson,
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

export type EventJson = EventsJson["events"][number];

/** `GET /system/metrics`. Unavailable figures are missing. */
export type SystemMetrics =
  & Partial<Omit<SystemMetricsJson, "daemon">>
  & { readonly daemon?: Partial<SystemMetricsJson["daemon"]> };

export interface Session {
  readonly name: string;
  readonly role: Role;
}
