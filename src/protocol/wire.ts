/**
 * The types of the wire, inferred from the verbs' schemas. Import them as types: then no schema
 * library is loaded.
 */

import type * as z from "../npm/zod.ts";
import type { configChange, settingChange } from "./verbs/config.ts";
import type { cronRun, schedule } from "./verbs/cron.ts";
import type { healthCheck, hookRun } from "./verbs/inspect.ts";
import type { VerbName, VERBS } from "./verbs/mod.ts";
import type { actionResult, bulkResult, exit, processInfo, rollingResult } from "./verbs/shapes.ts";
import type { Verb } from "./verbs/verb.ts";
import type { webhook, webhookAttempt, webhookTest } from "./verbs/web.ts";

export type { VerbName } from "./verbs/mod.ts";

type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;

/** What a schema describes, read-only. */
export type Wire<S extends z.ZodMiniType> = ReadOnly<z.output<S>>;

type Table = typeof VERBS;

/** What a verb's implementation gets. */
export type Input<N extends VerbName> = ReadOnly<z.output<Table[N]["input"]>>;

/** What a verb answers. */
export type Output<N extends VerbName> = ReadOnly<z.output<Table[N]["output"]>>;

/** What a client sends for a verb. */
export type Payload<N extends VerbName> = Table[N] extends Verb<infer I, infer _, infer B>
  ? Fields<z.input<I>> | ([B] extends [string] ? string : never)
  : never;

type Fields<T> = ReadOnly<T> | (Record<never, never> extends T ? undefined : never);

/** Every action on the wire: its payload and its data. */
export type ActionMap = {
  readonly [N in VerbName]: {
    readonly payload: N extends "start" ? StartPayload : Payload<N>;
    readonly data: Output<N>;
  };
};

/** `start` on the wire: the target to start again, or a new process's configuration. */
export interface StartPayload {
  /** Start these existing processes; no other field but `wait` goes with it. */
  readonly target?: string;
  /** Answer only when the process has stayed up for its `min_uptime`, or failed. Default false. */
  readonly wait?: boolean;
  /** Every configuration key, `name` and `entrypoint` first. */
  readonly [key: string]: unknown;
}

/** A process. */
export type ProcessJson = Wire<typeof processInfo>;
/** How a run ended. */
export type ExitJson = Wire<typeof exit>;
/** How a verb went for one process. */
export type ActionResult = Wire<typeof actionResult>;
/** Answer of the verbs that act on processes. */
export type BulkResult = Wire<typeof bulkResult>;
/** Answer of `rolling_reload`. It is `failed` when any of it has, and goes on no further. */
export type RollingResultJson = Wire<typeof rollingResult>;
/** Answer of `reconfigure`. */
export type ReconfigureResult = Output<"reconfigure">;
/** How one process changes. */
export type ConfigChangeJson = Wire<typeof configChange>;
/** How a setting of the daemon changes. */
export type SettingChangeJson = Wire<typeof settingChange>;
/** What a configuration file may say about the daemon itself. */
export type SettingName = SettingChangeJson["name"];
/** Answer of `config_reload`. */
export type ConfigReloadResult = Output<"config_reload">;
/** Answer of `start_all`. */
export type StartAllResult = Output<"start_all">;
/** A schedule. */
export type CronJson = Wire<typeof schedule>;
/** One run of a job, or one restart by the clock. */
export type CronRunJson = Wire<typeof cronRun>;
/** Answer of `cron_start`, `cron_stop` and `cron_run`. */
export type CronResult = Output<"cron_run">;
/** One run of a hook. */
export type HookRunJson = Wire<typeof hookRun>;
/** One health check. */
export type HealthCheckJson = Wire<typeof healthCheck>;
/** Answer of `history`. */
export type HistoryJson = Output<"history">;
/** Answer of `logs`. */
export type LogsJson = Output<"logs">;
/** Answer of `why`. */
export type WhyJson = Output<"why">;
/** Answer of `ping`. */
export type PingJson = Output<"ping">;
/** Answer of `resurrect`. */
export type ResurrectJson = Output<"resurrect">;
/** Where the web listener is. */
export type WebJson = Output<"web_status">;
/** A link that signs in, once. */
export type WebLinkJson = Output<"web_link">;
/** A named token, without its secret. */
export type TokenJson = Output<"token_list">[number];
/** The machine and the daemon. */
export type SystemMetricsJson = Output<"system_metrics">;
/** Where the daemon keeps its files. */
export type SystemInfoJson = Output<"system_info">;
/** A process that listens on TCP ports, and on which. */
export type PortsJson = Output<"ports">[number];
/** A webhook and its deliveries. */
export type WebhookJson = Wire<typeof webhook>;
/** How one attempt to deliver went. */
export type WebhookAttemptJson = Wire<typeof webhookAttempt>;
/** How a test went at one webhook. */
export type WebhookTestJson = Wire<typeof webhookTest>;
