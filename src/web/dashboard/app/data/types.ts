/** What the daemon tells the dashboard, and what is kept of it. */

export type {
  ConfigReloadResult,
  CronJson,
  CronRunJson,
  HealthCheckJson,
  HistoryJson,
  HookRunJson,
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
export interface SystemMetrics {
  readonly total_memory?: number;
  readonly used_memory?: number;
  readonly available_memory?: number;
  readonly swap_total?: number;
  readonly swap_used?: number;
  readonly cpu_count?: number;
  readonly cpu_percent?: number;
  readonly cpu_load_1?: number;
  readonly cpu_load_5?: number;
  readonly cpu_load_15?: number;
  readonly uptime_seconds?: number;
  readonly process_count?: number;
  readonly hostname?: string;
  readonly platform?: string;
  readonly arch?: string;
  readonly daemon?: {
    readonly pid?: number;
    readonly version?: string;
    readonly memory_bytes?: number;
    readonly uptime_seconds?: number;
    readonly restarts_last_hour?: number;
  };
}

/** Who is signed in. */
export interface Session {
  readonly name: string;
  readonly role: "read" | "operate" | "admin";
}
