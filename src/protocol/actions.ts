/** The verbs of the daemon: what each takes and what it answers (spec 2.6 and 4.3). */

import type {
  ConfigReloadPayload,
  CronPayload,
  LogsPayload,
  ReconfigurePayload,
  RollingReloadPayload,
  ScalePayload,
  SignalPayload,
  StartAllPayload,
  StartPayload,
  StopPayload,
  TargetPayload,
  WaitPayload,
} from "./payloads.ts";
import type { ProcessState } from "../model/process_info.ts";
import type { CronRunJson, HistoryJson } from "./history_json.ts";
import type { ProcessJson } from "./process_json.ts";
import type { WebActionMap } from "./web_actions.ts";
import type { WebhookActionMap } from "./webhook_json.ts";

/** A schedule as it stands. */
export interface CronJson {
  /** Of the process. */
  readonly name: string;
  /** `job` is run by the clock, `restart` is kept up and restarted by it. */
  readonly type: "job" | "restart";
  /** 5 or 6 fields. */
  readonly schedule: string;
  /** IANA name. */
  readonly timezone: string;
  /** Whether the clock starts it. */
  readonly enabled: boolean;
  /** Whether a run is under way. */
  readonly running: boolean;
  /** Of the last run that was not skipped. */
  readonly last_run: string | null;
  /** How that run went. */
  readonly last_status: CronRunJson["status"] | null;
  /** Its exit code. */
  readonly last_exit_code: number | null;
  /** Null while it is not enabled. */
  readonly next_run: string | null;
  /** With a name only: the next moments, enabled or not. */
  readonly next_runs?: readonly string[];
  /** The last runs, the newest last. */
  readonly history: readonly CronRunJson[];
}

/** Answer of `cron_start`, `cron_stop` and `cron_run`. */
export interface CronResult {
  /** What came of it; `queued` runs after the run under way. */
  readonly status: "started" | "stopped" | "running" | "queued";
  /** The target. */
  readonly name: string;
}

/** Answer of `start_all`. */
export interface StartAllResult {
  /** Names of the processes that were started. */
  readonly started: readonly string[];
  readonly errors: readonly string[];
  readonly unchanged: readonly string[];
  readonly settings: readonly SettingChangeJson[];
  readonly results: readonly ActionResult[];
}

/** Answer of `config_reload`; the lists hold names of configurations. */
export interface ConfigReloadResult {
  readonly status: "reloaded" | "planned" | "failed";
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Not in the files any more, and left as they are since `prune` was not given. */
  readonly kept: readonly string[];
  readonly unchanged: readonly string[];
  readonly errors: readonly string[];
  readonly changes: readonly ConfigChangeJson[];
  readonly settings: readonly SettingChangeJson[];
  readonly results: readonly ActionResult[];
}

/** What a configuration file may say about the daemon itself. */
export type SettingName = "web" | "webhooks";

/** How a setting of the daemon changes. URLs and secrets are not told. */
export interface SettingChangeJson {
  readonly name: SettingName;
  /** `kept`: no longer in the files, and left as it is since `prune` was not given. */
  readonly change: "added" | "changed" | "unchanged" | "removed" | "kept";
  readonly fields: ConfigChangeJson["fields"];
}

/** How one process changes. Values of `env`, `secrets` and `args` are not told. */
export interface ConfigChangeJson {
  /** Of the process. */
  readonly name: string;
  /** Whether it has to be replaced. */
  readonly restart: boolean;
  /** More than one instance: they are replaced one by one. */
  readonly rolling: boolean;
  /** What changes, with the value before and after where it may be told. */
  readonly fields: readonly {
    readonly field: string;
    readonly from?: unknown;
    readonly to?: unknown;
  }[];
}

/** How a verb went for one of its processes. */
export interface ActionResult {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Whether it worked. */
  readonly ok: boolean;
  /** The state it is in now. */
  readonly state: ProcessState;
  /** Process id, 0 while nothing runs. */
  readonly pid: number;
  /** What went wrong, when it did not work. */
  readonly error?: string;
  /** Name of the error. */
  readonly code?: string;
  /** What its standard error held last, when it failed. */
  readonly last_stderr?: readonly string[];
  /** What to do about it. */
  readonly hint?: string;
}

/** Answer of the verbs that act on processes. */
export interface BulkResult {
  /** What was done: `stopped`, `restarted`, …; `failed` when that worked for none. */
  readonly status: string;
  /** How it went for each. */
  readonly results: readonly ActionResult[];
}

/** Answer of `rolling_reload`. It is `failed` when any of it has, and goes on no further. */
export interface RollingResultJson extends BulkResult {
  /** Whether the old ones were put back. */
  readonly rolled_back: boolean;
}

/** Answer of `reconfigure`. */
export interface ReconfigureResult extends RollingResultJson {
  /** `changed`: told to what runs, or to what is down, and nothing was replaced. */
  readonly status: "unchanged" | "changed" | "reloaded" | "rolled_back" | "failed";
  /** Whether what runs was replaced. */
  readonly restarted: boolean;
  /** Which keys changed. */
  readonly changes: ConfigChangeJson["fields"];
}

/** Answer of `start`: the (first) process, and how all of them went. */
export type StartResult = ProcessJson & {
  readonly results: readonly ActionResult[];
};

/** The last lines of a log (spec 2.7). */
export interface LogsJson {
  /** The lines, each with its end. */
  readonly logs: string;
  /** The log file. */
  readonly path: string;
  /** The requested count as text. */
  readonly lines: string;
}

/** Why a process is in the state it is in. */
export interface WhyJson {
  /** The process. */
  readonly process: ProcessJson;
  /** Whole sentences, the most important first. */
  readonly reasons: readonly string[];
  /** What its standard error held last. */
  readonly last_stderr: readonly string[];
  /** Commands that may help. */
  readonly hints: readonly string[];
}

/** Answer of `ping`. */
export interface PingJson {
  /** It answers. */
  readonly status: "ok";
  /** Of procsup. */
  readonly version: string;
  /** Number of the IPC protocol. */
  readonly protocol: number;
}

/** What `release` takes. */
export interface ReleasePayload {
  /** Version of the daemon that comes: whoever listens is told to wait for it. */
  readonly upgrade_to?: string;
}

/** Answer of `release`: the daemon ends and its processes run on, for the next one to take up. */
export interface ReleaseJson {
  readonly status: "released";
  readonly pid: number;
}

/** Answer of `resurrect`. */
export interface ResurrectJson {
  /** It was tried for all. */
  readonly status: "resurrected";
  /** Processes that were brought back. */
  readonly count: number;
  /** What went wrong. */
  readonly errors: readonly string[];
}

/** Every action: its payload and its data. */
export interface ActionMap extends WebActionMap, WebhookActionMap {
  start: { payload: StartPayload; data: StartResult };
  start_all: { payload: StartAllPayload; data: StartAllResult };
  config_reload: { payload: ConfigReloadPayload; data: ConfigReloadResult };
  stop: { payload: StopPayload; data: BulkResult };
  restart: { payload: TargetPayload | string; data: BulkResult };
  reload: { payload: TargetPayload | string; data: BulkResult };
  rolling_reload: { payload: RollingReloadPayload; data: RollingResultJson };
  reconfigure: { payload: ReconfigurePayload; data: ReconfigureResult };
  scale: { payload: ScalePayload; data: BulkResult };
  delete: { payload: TargetPayload | string; data: BulkResult };
  signal: { payload: SignalPayload; data: BulkResult };
  flush: { payload: TargetPayload | string; data: BulkResult };
  list: { payload: undefined; data: readonly ProcessJson[] };
  status: { payload: TargetPayload | string; data: ProcessJson };
  why: { payload: TargetPayload | string; data: WhyJson };
  history: { payload: TargetPayload | string; data: HistoryJson };
  wait: { payload: WaitPayload; data: readonly ProcessJson[] };
  logs: { payload: LogsPayload; data: LogsJson };
  cron_list: { payload: CronPayload | string | undefined; data: readonly CronJson[] };
  cron_start: { payload: CronPayload | string; data: CronResult };
  cron_stop: { payload: CronPayload | string; data: CronResult };
  cron_run: { payload: CronPayload | string; data: CronResult };
  save: { payload: undefined; data: { readonly status: "saved"; readonly count: number } };
  resurrect: { payload: undefined; data: ResurrectJson };
  ping: { payload: undefined; data: PingJson };
  token: { payload: { readonly rotate?: boolean } | undefined; data: { readonly token: string } };
  release: { payload: ReleasePayload | undefined; data: ReleaseJson };
  shutdown: { payload: undefined; data: BulkResult };
}

/** The name of an action. */
export type Action = keyof ActionMap;

/** Number of the IPC protocol; a client of another number is told to upgrade. */
export const PROTOCOL = 1;

/** procsup's own version. */
export const VERSION = "0.1.0";
