/** What the verbs take and answer, as types of their schemas. Importing them loads no schema library. */

import type * as z from "zod/mini";
import type { alert } from "../verbs/alerts/rows.ts";
import type { configChange, settingChange } from "../verbs/config/rows.ts";
import type { cronRun, schedule } from "../verbs/cron/rows.ts";
import type {
  healthCheck,
  hookRun,
  metricsPoint,
  metricsSeries,
  release,
} from "../verbs/inspect/rows.ts";
import type { LogRequest } from "../verbs/logs/rows.ts";
import type { VerbName, VERBS } from "../verbs/mod.ts";
import type { bulkResult, exit, processInfo, processResult } from "../verbs/shapes.ts";
import type { Verb } from "../verbs/verb.ts";
import type { namedToken, webhook, webhookTest } from "../verbs/web/rows.ts";

export type { LogRequest, VerbName };

type Table = typeof VERBS;

/** A deeply read-only value. */
type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;

/** Input of a verb's implementation. */
export type Input<N extends VerbName> = ReadOnly<z.output<Table[N]["input"]>>;

export type Output<N extends VerbName> = ReadOnly<z.output<Table[N]["output"]>>;

/** What a client sends for a verb. */
export type Payload<N extends VerbName> = Table[N] extends Verb<infer I, infer _, infer B>
  ? Fields<z.input<I>> | ([B] extends [string] ? string : never)
  : never;

type Fields<T> = ReadOnly<T> | (Record<never, never> extends T ? undefined : never);

/** The payload and data of every verb on the wire. */
export type VerbMap = {
  readonly [N in VerbName]: {
    readonly payload: N extends "start" ? StartPayload | Payload<N> : Payload<N>;
    readonly data: Output<N>;
  };
};

/** `start` on the wire: an existing target, or the configuration of a new process. */
export interface StartPayload {
  /** Start these existing processes; of the other fields only `wait` may be given. */
  readonly target?: string;
  /** Answer once the process has stayed up for its `min_uptime`, or failed. Default false. */
  readonly wait?: boolean;
  readonly [key: string]: unknown;
}

type Json<S extends z.ZodMiniType> = ReadOnly<z.output<S>>;

export type ProcessJson = Json<typeof processInfo>;
/** How a run ended. */
export type ExitJson = Json<typeof exit>;
export type ProcessResult = Json<typeof processResult>;
/** Answer of verbs that act on processes. */
export type BulkResult = Json<typeof bulkResult>;
export type ReconfigureResult = Output<"reconfigure">;

export type ConfigChangeJson = Json<typeof configChange>;
/** How a setting of the daemon changes. */
export type SettingChangeJson = Json<typeof settingChange>;
export type ConfigReloadResult = Output<"config_reload">;
export type StartAllResult = Output<"start_all">;
export type ConfigReloadPayload = Exclude<Payload<"config_reload">, string>;

/** An alert with its state. */
export type AlertJson = Json<typeof alert>;

export type CronJson = Json<typeof schedule>;
/** One run of a cron job, or one restart by cron. */
export type CronRunJson = Json<typeof cronRun>;
/** Answer of `cron_start`, `cron_stop` and `cron_run`. */
export type CronResult = Output<"cron_run">;

export type HistoryJson = Output<"history">;
export type HookRunJson = Json<typeof hookRun>;
export type HealthCheckJson = Json<typeof healthCheck>;
export type EventsJson = Output<"events">;
export type LogCountsJson = Output<"log_counts">;
export type FoundLinesJson = Output<"search_logs">;
export type WhyJson = Output<"why">;
/** One change of an app, under way or over. */
export type ReleaseJson = Json<typeof release>;

export type MetricsHistoryJson = Output<"metrics_history">;
/** The history of one process or of the host. */
export type MetricsSeriesJson = Json<typeof metricsSeries>;
/** The figures of one step. */
export type MetricsPointJson = Json<typeof metricsPoint>;

export type PingJson = Output<"ping">;
export type SystemMetricsJson = Output<"system_metrics">;
export type SystemInfoJson = Output<"system_info">;
/** This machine or a context, and what runs there. */
export type ContextJson = Output<"contexts">[number];
/** A process that listens on TCP ports, and on which. */
export type PortsJson = Output<"ports">[number];

/** State of the web listener. Address and URL are empty while it is stopped. */
export type WebJson = Output<"web_status">;
export type WebLinkJson = Output<"web_link">;
/** A named token, without its secret. */
export type TokenJson = Json<typeof namedToken>;
/** A webhook, and its deliveries since the daemon started. */
export type WebhookJson = Json<typeof webhook>;
/** How a test went at one webhook. */
export type WebhookTestJson = Json<typeof webhookTest>;
