/** What the verbs answer. Written by deno task dashboard from src/protocol/verbs: change it there. */

/** A process. */
export interface ProcessJson {
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Sequential number. */
  readonly numeric_id: number;
  /** Unique name. */
  readonly name: string;
  /** Group. */
  readonly namespace: string;
  /** 0 for the first. */
  readonly instance_index: number;
  /** What runs it; `auto` for a plain program. */
  readonly runtime: string;
  /** waiting: for its next automatic start, or for an app it depends on; errored: given up, only a restart starts it. */
  readonly state:
    | "starting"
    | "running"
    | "stopping"
    | "stopped"
    | "crashed"
    | "errored"
    | "waiting";
  /** Process id, 0 while nothing runs. */
  readonly pid: number;
  /** Last exit code; 0 also when it never ended. */
  readonly exit_code: number;
  /** Automatic restarts, those after a success included. */
  readonly restarts: number;
  /** When it was added. */
  readonly created_at: string;
  /** When its last run began. */
  readonly started_at: string | null;
  /** When its last run ended. */
  readonly finished_at: string | null;
  /** Values of `env` are masked. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Of one core. */
  readonly cpu_percent: number;
  /** Resident memory of the whole tree. */
  readonly memory_bytes: number;
  /** The same in percent of the machine's. */
  readonly mem_percent: number;
  /** Threads of the whole tree. */
  readonly threads: number;
  /** Open file descriptors. */
  readonly fds: number;
  /** Words of its configuration. */
  readonly tags: readonly string[];
  /** Nanoseconds. */
  readonly uptime: number;
  /** Whether it runs and is ready. */
  readonly ready: boolean;
  /** What its health checks say. */
  readonly health: "unknown" | "healthy" | "unhealthy";
  /** When its next automatic start is due. */
  readonly next_restart_at: string | null;
  /** Why it is in this state. */
  readonly last_reason: string;
  /** How its last run ended. */
  readonly last_exit: ExitJson | null;
}

/** How a run ended. */
export interface ExitJson {
  /** Null when it is not known. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  /** When it ended. */
  readonly at: string;
}

/** How a verb went for one process. */
export interface ActionResult {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Whether it worked. */
  readonly ok: boolean;
  /** The state it is in now. */
  readonly state:
    | "starting"
    | "running"
    | "stopping"
    | "stopped"
    | "crashed"
    | "errored"
    | "waiting";
  /** Process id, 0 while nothing runs. */
  readonly pid: number;
  /** What went wrong, when it did not work. */
  readonly error?: string;
  /** Name of the error. */
  readonly code?: string;
  /** The line of its output that says what went wrong. */
  readonly error_line?: string;
  /** Untrusted output of the app. */
  readonly last_output?: readonly string[];
  /** What to do about it. */
  readonly hint?: string;
}

/** Answer of the verbs that act on processes. */
export interface BulkResult {
  /** What was done: `stopped`, `restarted`, …; `failed` when that worked for none. */
  readonly status: string;
  /** How it went for each process. */
  readonly results: readonly ActionResult[];
}

/** Answer of `rolling_reload`. It is `failed` when any of it has, and goes on no further. */
export interface RollingResultJson {
  /** What was done: `stopped`, `restarted`, …; `failed` when that worked for none. */
  readonly status: string;
  /** How it went for each process. */
  readonly results: readonly ActionResult[];
  /** Whether the old ones were put back. */
  readonly rolled_back: boolean;
}

/** Answer of `reconfigure`. */
export interface ReconfigureResult {
  /** `changed`: nothing had to be replaced. */
  readonly status: "unchanged" | "changed" | "reloaded" | "rolled_back" | "failed";
  /** How it went for each process. */
  readonly results: readonly ActionResult[];
  /** Whether the old ones were put back. */
  readonly rolled_back: boolean;
  /** Whether what runs was replaced. */
  readonly restarted: boolean;
  /** Which keys changed. */
  readonly changes: readonly FieldChangeJson[];
}

/** One changed key, with its values where they may be shown. */
export interface FieldChangeJson {
  /** The key. */
  readonly field: string;
  /** Value before. */
  readonly from?: unknown;
  /** Value after. */
  readonly to?: unknown;
}

/** How one process changes. */
export interface ConfigChangeJson {
  /** Of the process. */
  readonly name: string;
  /** Whether it has to be replaced. */
  readonly restart: boolean;
  /** More than one instance: they are replaced one by one. */
  readonly rolling: boolean;
  /** The keys that change. */
  readonly fields: readonly FieldChangeJson[];
}

/** How a setting of the daemon changes. */
export interface SettingChangeJson {
  /** What a configuration file may say about the daemon itself. */
  readonly name: "web" | "webhooks";
  /** `kept`: no longer in the files, and left as it is since `prune` was not given. */
  readonly change: "added" | "changed" | "unchanged" | "removed" | "kept";
  readonly fields: readonly FieldChangeJson[];
}

/** Answer of `config_reload`. */
export interface ConfigReloadResult {
  readonly status: "reloaded" | "planned" | "failed";
  /** Names of configurations, as in the lists below. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** No longer in the files, and left as they are since `prune` was not given. */
  readonly kept: readonly string[];
  readonly unchanged: readonly string[];
  readonly errors: readonly string[];
  readonly changes: readonly ConfigChangeJson[];
  readonly settings: readonly SettingChangeJson[];
  readonly results: readonly ActionResult[];
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

/** A schedule. */
export interface CronJson {
  /** Of the process. */
  readonly name: string;
  /** A `job` runs on schedule; with `restart` the clock restarts a process that is kept up. */
  readonly type: "job" | "restart";
  /** 5 or 6 fields. */
  readonly schedule: string;
  /** IANA name. */
  readonly timezone: string;
  /** Whether the clock starts runs. */
  readonly enabled: boolean;
  /** Whether a run is in progress. */
  readonly running: boolean;
  /** Of the last run that was not skipped. */
  readonly last_run: string | null;
  /** How that run went. */
  readonly last_status: "ok" | "failed" | "timeout" | "skipped" | "killed" | null;
  /** Its exit code. */
  readonly last_exit_code: number | null;
  /** Null while it is not enabled. */
  readonly next_run: string | null;
  /** With a name only: the next moments, enabled or not. */
  readonly next_runs?: readonly string[];
  /** The last runs, the newest last. */
  readonly history: readonly CronRunJson[];
}

/** One run of a job, or one restart by the clock. */
export interface CronRunJson {
  /** When it began. */
  readonly started_at: string;
  /** When it ended. */
  readonly finished_at: string;
  /** How it went. */
  readonly status: "ok" | "failed" | "timeout" | "skipped" | "killed";
  /** Null when it did not end by itself. */
  readonly exit_code: number | null;
  /** How many in a row, where runs were skipped. */
  readonly times?: number;
}

/** Answer of `cron_start`, `cron_stop` and `cron_run`. */
export interface CronResult {
  /** What was done; `queued` runs after the current run. */
  readonly status: "started" | "stopped" | "running" | "queued";
  /** The target. */
  readonly name: string;
}

/** Answer of `history`: the newest last. */
export interface HistoryJson {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Runs of its hooks. */
  readonly hooks: readonly HookRunJson[];
  /** Its health checks. */
  readonly health: readonly HealthCheckJson[];
}

/** One run of a hook. */
export interface HookRunJson {
  /** When it began. */
  readonly at: string;
  /** `pre_start` … `post_healthcheck`. */
  readonly hook: string;
  /** Whether its exit code was 0. */
  readonly ok: boolean;
  /** Null when it did not end by itself, or could not be run. */
  readonly exit_code: number | null;
  /** Whether it was ended at its timeout. */
  readonly timed_out: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  /** The end of what it printed, 2 KiB at most. */
  readonly output: string;
}

/** One health check. */
export interface HealthCheckJson {
  /** When it began. */
  readonly at: string;
  /** Whether it was well. */
  readonly ok: boolean;
  /** What was wrong; empty when it was well. */
  readonly message: string;
  /** Nanoseconds. */
  readonly latency: number;
}

/** Answer of `metrics_history`. */
export interface MetricsHistoryJson {
  /** When the first step begins. */
  readonly since: string;
  /** End of the last step, or now. */
  readonly until: string;
  /** Nanoseconds from one point to the next. */
  readonly step: number;
  /** One for each process. */
  readonly series: readonly MetricsSeriesJson[];
}

/** The history of one process or of the host. */
export interface MetricsSeriesJson {
  /** Of the process, which may be deleted; null: the host. */
  readonly name: string | null;
  /** The oldest first. Steps without a measurement are missing; unknown figures are null. */
  readonly points: readonly MetricsPointJson[];
}

/** The figures of one step of time. */
export interface MetricsPointJson {
  /** When the step begins. */
  readonly at: string;
  /** Mean: of one core; for the host of all cores. */
  readonly cpu_percent: number | null;
  /** Highest. */
  readonly cpu_percent_max: number | null;
  /** Mean resident memory of the whole tree; used memory of the host. */
  readonly memory_bytes: number | null;
  /** Highest. */
  readonly memory_bytes_max: number | null;
  /** Mean. */
  readonly threads: number | null;
  /** Mean number of open file descriptors. */
  readonly fds: number | null;
  /** Load average of one minute; of the host only. */
  readonly load: number | null;
  /** Automatic restarts up to the end of the step. */
  readonly restarts: number;
  /** Nanoseconds, at the end of the step. */
  readonly uptime: number;
  /** Share of the step in which it ran, from 0 to 1. */
  readonly up: number;
  /** Share of its health checks' time, from 0 to 1; null without checks. */
  readonly healthy: number | null;
}

/** Answer of `events`: the newest last. */
export interface EventsJson {
  readonly events: readonly ({
    /** A state that was entered, or `added`, `deleted`, `healthy`, … */
    readonly type:
      | "added"
      | "deleted"
      | "adopted"
      | "note"
      | "healthy"
      | "unhealthy"
      | "starting"
      | "running"
      | "stopping"
      | "stopped"
      | "crashed"
      | "errored"
      | "waiting";
    readonly at: string;
    /** First 8 characters of the UUID. */
    readonly id: string;
    /** Of the process. */
    readonly name: string;
    /** The state since then. */
    readonly state:
      | "starting"
      | "running"
      | "stopping"
      | "stopped"
      | "crashed"
      | "errored"
      | "waiting";
    /** 0 while nothing runs. */
    readonly pid: number;
    /** Automatic restarts until then. */
    readonly restarts: number;
    /** Why. */
    readonly reason: string;
    /** How the run ended, if one did. */
    readonly exit: ExitJson | null;
  })[];
  /** Whether there were more. */
  readonly truncated: boolean;
  /** `before` of the next, older events; absent at the end. */
  readonly next?: string;
}

/** Answer of `log_counts`. */
export interface LogCountsJson {
  /** When the first step begins. */
  readonly since: string;
  /** When the last step ends. */
  readonly until: string;
  /** Nanoseconds. */
  readonly step: number;
  /** Lines before it were too many to be counted. */
  readonly counted_since: string;
  /** A line without a level is `info`. Steps without lines are missing. */
  readonly counts: readonly {
    readonly at: string;
    readonly debug: number;
    readonly info: number;
    readonly warn: number;
    readonly error: number;
  }[];
}

/** Answer of `logs`. */
export interface LogsJson {
  /** The lines, each with its end. */
  readonly logs: string;
  /** The log file. */
  readonly path: string;
  /** The requested count as text. */
  readonly lines: string;
}

/** Answer of `why`. */
export interface WhyJson {
  /** A process. */
  readonly process: ProcessJson;
  /** Whole sentences, the most important first. */
  readonly reasons: readonly string[];
  /** The line of its output that says what went wrong, where one does; untrusted. */
  readonly error_line?: string;
  /** Its last lines of stderr, or of stdout where that says more; untrusted. */
  readonly last_output: readonly string[];
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

/** Answer of `resurrect`. */
export interface ResurrectJson {
  /** It was tried for all. */
  readonly status: "resurrected";
  /** Processes that were brought back. */
  readonly count: number;
  /** What went wrong. */
  readonly errors: readonly string[];
}

/** Where the web listener is; empty while it is stopped. */
export interface WebJson {
  readonly status: "started" | "already_running" | "running" | "stopped";
  /** `host:port`. */
  readonly addr: string;
  readonly url: string;
  /** What other machines can reach; absent where none can. */
  readonly warning?: string;
}

/** A link that signs in, once. */
export interface WebLinkJson {
  readonly url: string;
  readonly expires_in_seconds: number;
}

/** A named token, without its secret. */
export interface TokenJson {
  readonly name: string;
  readonly role: "read" | "operate" | "admin";
  readonly created_at: string;
}

/** The machine and the daemon; memory in bytes. */
export interface SystemMetricsJson {
  /** Of the machine. */
  readonly total_memory: number;
  /** What programs hold. */
  readonly used_memory: number;
  /** Unused. */
  readonly free_memory: number;
  /** What programs could get. */
  readonly available_memory: number;
  /** Size of the swap space. */
  readonly swap_total: number;
  /** Used swap space. */
  readonly swap_used: number;
  /** Cores. */
  readonly cpu_count: number;
  /** Of all cores together. */
  readonly cpu_percent: number;
  /** Load average of one minute. */
  readonly cpu_load_1: number;
  /** Load average of five minutes. */
  readonly cpu_load_5: number;
  /** Load average of fifteen minutes. */
  readonly cpu_load_15: number;
  /** Since the machine was booted. */
  readonly uptime_seconds: number;
  /** Processes under supervision. */
  readonly process_count: number;
  /** Name of the machine. */
  readonly hostname: string;
  /** `linux` or `darwin`. */
  readonly platform: string;
  /** `x86_64` or `aarch64`. */
  readonly arch: string;
  /** The daemon itself. */
  readonly daemon: {
    readonly pid: number;
    readonly version: string;
    readonly memory_bytes: number;
    readonly uptime_seconds: number;
    /** Automatic restarts of processes, as far as this daemon was there. */
    readonly restarts_last_hour: number;
  };
}

/** Where the daemon keeps its files. */
export interface SystemInfoJson {
  /** The daemon's home. */
  readonly home: string;
  /** Its Unix socket. */
  readonly socket: string;
  /** When `save` wrote the list last; null when it never did. */
  readonly saved_at: string | null;
  /** Bytes of the file system that the home is on; 0 where that is not known. */
  readonly disk_total: number;
  /** Of those, what is left for its user. */
  readonly disk_available: number;
}

/** A process that listens on TCP ports, and on which. */
export interface PortsJson {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Where it listens. */
  readonly ports: readonly {
    readonly port: number;
    readonly address: string;
  }[];
}

/** A webhook, and its deliveries since the daemon started. */
export interface WebhookJson {
  readonly name: string;
  /** What of it is no secret: https://hooks.example.com/… */
  readonly url: string;
  readonly format: "standard" | "slack" | "discord" | "teams";
  readonly events: readonly ("crash" | "errored" | "unhealthy" | "recovered")[];
  /** Targets, of which a process matches one. */
  readonly only: readonly string[];
  /** Whether what is sent carries a signature. */
  readonly signed: boolean;
  /** Deliveries that wait for their turn, or for another attempt. */
  readonly queued: number;
  readonly delivered: number;
  /** Given up after the last attempt. */
  readonly failed: number;
  /** Discarded from a full queue. */
  readonly dropped: number;
  /** The last attempt; null before the first. */
  readonly last: WebhookAttemptJson | null;
}

/** How one attempt to deliver went. */
export interface WebhookAttemptJson {
  readonly at: string;
  readonly ok: boolean;
  /** Of HTTP; null when there was no answer. */
  readonly status: number | null;
  /** What went wrong; empty when nothing did. */
  readonly error: string;
}

/** How a test went at one webhook. */
export interface WebhookTestJson {
  readonly at: string;
  readonly ok: boolean;
  /** Of HTTP; null when there was no answer. */
  readonly status: number | null;
  /** What went wrong; empty when nothing did. */
  readonly error: string;
  readonly name: string;
}
