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
  /** Index among the instances, from 0. */
  readonly instance_index: number;
  /** Resolved runtime; `auto` for a plain program. */
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
  /** Last exit code; 0 also if it never ended. */
  readonly exit_code: number;
  /** Automatic restarts, including those after a success. */
  readonly restarts: number;
  /** When it was added. */
  readonly created_at: string;
  /** When its last run began. */
  readonly started_at: string | null;
  /** When its last run ended. */
  readonly finished_at: string | null;
  /** Values of `env` are masked. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Percent of one core. */
  readonly cpu_percent: number;
  /** Resident memory of the process tree. */
  readonly memory_bytes: number;
  /** Resident memory in percent of the machine's. */
  readonly mem_percent: number;
  /** Threads of the process tree. */
  readonly threads: number;
  /** Open file descriptors. */
  readonly fds: number;
  /** Words for `tag:` targets. */
  readonly tags: readonly string[];
  /** Nanoseconds since its start. */
  readonly uptime: number;
  /** Whether it runs and is ready. */
  readonly ready: boolean;
  /** Result of its health checks. */
  readonly health: "unknown" | "healthy" | "unhealthy";
  /** When its next automatic start is due. */
  readonly next_restart_at: string | null;
  /** Reason for its state. */
  readonly last_reason: string;
  /** How its last run ended. */
  readonly last_exit: ExitJson | null;
}

/** How a run ended. */
export interface ExitJson {
  /** Null if unknown. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  /** When it ended. */
  readonly at: string;
}

/** The result of a verb for one process. */
export interface ActionResult {
  /** Name of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Whether it worked. */
  readonly ok: boolean;
  /** State after the verb. */
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
  /** True for a job: the clock starts it. */
  readonly scheduled?: boolean;
  /** What went wrong, if it failed. */
  readonly error?: string;
  /** Name of the error. */
  readonly code?: string;
  /** The line of output that says what went wrong. */
  readonly error_line?: string;
  /** Untrusted output of the app. */
  readonly last_output?: readonly string[];
  /** What to do about it. */
  readonly hint?: string;
}

/** Answer of verbs that act on processes. */
export interface BulkResult {
  /** What was done: `stopped`, `restarted`, …; `failed` if every process failed. */
  readonly status: string;
  /** One for each process. */
  readonly results: readonly ActionResult[];
}

/** Answer of `rolling_reload`. It stops at the first failure, and is then `failed`. */
export interface RollingResultJson {
  /** What was done: `stopped`, `restarted`, …; `failed` if every process failed. */
  readonly status: string;
  /** One for each process. */
  readonly results: readonly ActionResult[];
  /** Whether the old configuration was restored. */
  readonly rolled_back: boolean;
}

/** Answer of `reconfigure`. */
export interface ReconfigureResult {
  /** `changed`: nothing had to be replaced. */
  readonly status: "unchanged" | "changed" | "reloaded" | "rolled_back" | "failed";
  /** One for each process. */
  readonly results: readonly ActionResult[];
  /** Whether the old configuration was restored. */
  readonly rolled_back: boolean;
  /** Whether what runs was replaced. */
  readonly restarted: boolean;
  /** Which keys changed. */
  readonly changes: readonly FieldChangeJson[];
}

/** A changed key, with its values if they may be shown. */
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
  /** Name of the process. */
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
  /** `kept`: no longer in the files, but kept because `prune` was not given. */
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
  /** No longer in the files, but kept because `prune` was not given. */
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
  /** Name of the process. */
  readonly name: string;
  /** A `job` runs on schedule; a `restart` restarts a running process on schedule. */
  readonly type: "job" | "restart";
  /** 5 or 6 fields. */
  readonly schedule: string;
  /** IANA name. */
  readonly timezone: string;
  /** Whether the schedule is active. */
  readonly enabled: boolean;
  /** Whether a run is in progress. */
  readonly running: boolean;
  /** Start of the last run that was not skipped. */
  readonly last_run: string | null;
  /** Result of that run. */
  readonly last_status: "ok" | "failed" | "timeout" | "skipped" | "killed" | null;
  /** Exit code of that run. */
  readonly last_exit_code: number | null;
  /** Null while the schedule is disabled. */
  readonly next_run: string | null;
  /** Only with a name: the next times, enabled or not. */
  readonly next_runs?: readonly string[];
  /** The last runs, the newest last. */
  readonly history: readonly CronRunJson[];
}

/** One run of a cron job, or one restart by cron. */
export interface CronRunJson {
  /** When it began. */
  readonly started_at: string;
  /** When it ended. */
  readonly finished_at: string;
  /** Result. */
  readonly status: "ok" | "failed" | "timeout" | "skipped" | "killed";
  /** Null if it did not exit by itself. */
  readonly exit_code: number | null;
  /** Number of consecutive skipped runs. */
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
  /** Name of the process. */
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
  /** Null if it was killed, or could not be run. */
  readonly exit_code: number | null;
  /** Whether it was killed at its timeout. */
  readonly timed_out: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  /** End of its output, up to 2 KiB. */
  readonly output: string;
}

/** One health check. */
export interface HealthCheckJson {
  /** When it began. */
  readonly at: string;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** What was wrong; empty on success. */
  readonly message: string;
  /** Nanoseconds. */
  readonly latency: number;
}

/** Answer of `metrics_history`. */
export interface MetricsHistoryJson {
  /** Start of the first step. */
  readonly since: string;
  /** End of the last step, or now. */
  readonly until: string;
  /** Nanoseconds between points. */
  readonly step: number;
  /** One for each process. */
  readonly series: readonly MetricsSeriesJson[];
}

/** The history of one process or of the host. */
export interface MetricsSeriesJson {
  /** Name of the process, which may be deleted; null for the host. */
  readonly name: string | null;
  /** The oldest first. Steps without a measurement are left out; unknown figures are null. */
  readonly points: readonly MetricsPointJson[];
}

/** The figures of one step. */
export interface MetricsPointJson {
  /** Start of the step. */
  readonly at: string;
  /** Mean percent of one core; for the host, of all cores. */
  readonly cpu_percent: number | null;
  /** Highest. */
  readonly cpu_percent_max: number | null;
  /** Mean resident memory of the process tree; for the host, used memory. */
  readonly memory_bytes: number | null;
  /** Highest. */
  readonly memory_bytes_max: number | null;
  /** Mean. */
  readonly threads: number | null;
  /** Mean number of open file descriptors. */
  readonly fds: number | null;
  /** Load average of one minute; only for the host. */
  readonly load: number | null;
  /** Automatic restarts up to the end of the step. */
  readonly restarts: number;
  /** Nanoseconds, at the end of the step. */
  readonly uptime: number;
  /** Share of the step in which it ran, from 0 to 1. */
  readonly up: number;
  /** Share of the checked time in which it was healthy, from 0 to 1; null without checks. */
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
    /** Name of the process. */
    readonly name: string;
    /** State after the event. */
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
    /** Automatic restarts so far. */
    readonly restarts: number;
    /** Reason. */
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
  /** Start of the first step. */
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
  /** The lines, each with its line break. */
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
  /** Sentences, the most important first. */
  readonly reasons: readonly string[];
  /** The line of output that says what went wrong, if any; untrusted. */
  readonly error_line?: string;
  /** Last lines of stderr, or of stdout if those say more; untrusted. */
  readonly last_output: readonly string[];
  /** Commands that may help. */
  readonly hints: readonly string[];
}

/** Answer of `ping`. */
export interface PingJson {
  /** The daemon answers. */
  readonly status: "ok";
  /** Version of procsup. */
  readonly version: string;
  /** Number of the IPC protocol. */
  readonly protocol: number;
}

/** Answer of `resurrect`. */
export interface ResurrectJson {
  /** All were tried. */
  readonly status: "resurrected";
  /** Number of restored processes. */
  readonly count: number;
  /** Error messages. */
  readonly errors: readonly string[];
}

/** State of the web listener. Address and URL are empty while it is stopped. */
export interface WebJson {
  readonly status: "started" | "already_running" | "running" | "stopped";
  /** `host:port`. */
  readonly addr: string;
  readonly url: string;
  /** What other machines can reach; absent on loopback. */
  readonly warning?: string;
}

/** A link that signs in once. */
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

/** Host and daemon; memory in bytes. */
export interface SystemMetricsJson {
  /** Memory of the machine. */
  readonly total_memory: number;
  /** Memory used by programs. */
  readonly used_memory: number;
  /** Unused memory. */
  readonly free_memory: number;
  /** Memory that programs could get. */
  readonly available_memory: number;
  /** Size of the swap space. */
  readonly swap_total: number;
  /** Used swap space. */
  readonly swap_used: number;
  /** Cores. */
  readonly cpu_count: number;
  /** Percent of all cores together. */
  readonly cpu_percent: number;
  /** Load average of one minute. */
  readonly cpu_load_1: number;
  /** Load average of five minutes. */
  readonly cpu_load_5: number;
  /** Load average of fifteen minutes. */
  readonly cpu_load_15: number;
  /** Seconds since the machine booted. */
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
    /** Automatic restarts of processes since this daemon started, within the last hour. */
    readonly restarts_last_hour: number;
  };
}

/** Where the daemon keeps its files. */
export interface SystemInfoJson {
  /** The daemon's home. */
  readonly home: string;
  /** Its Unix socket. */
  readonly socket: string;
  /** Time of the last `save`; null if there was none. */
  readonly saved_at: string | null;
  /** Bytes of the home's file system; 0 if unknown. */
  readonly disk_total: number;
  /** Bytes of it that are available to the user. */
  readonly disk_available: number;
}

/** A process that listens on TCP ports, and on which. */
export interface PortsJson {
  /** Name of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Listening addresses. */
  readonly ports: readonly {
    readonly port: number;
    readonly address: string;
  }[];
}

/** A webhook, and its deliveries since the daemon started. */
export interface WebhookJson {
  readonly name: string;
  /** Without its secret part: https://hooks.example.com/… */
  readonly url: string;
  readonly format: "standard" | "slack" | "discord" | "teams";
  readonly events: readonly ("crash" | "errored" | "unhealthy" | "recovered")[];
  /** Targets: a process must match one of them. */
  readonly only: readonly string[];
  /** Whether deliveries are signed. */
  readonly signed: boolean;
  /** Deliveries that wait to be sent, or sent again. */
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
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** What went wrong; empty on success. */
  readonly error: string;
}

/** How a test went at one webhook. */
export interface WebhookTestJson {
  readonly at: string;
  readonly ok: boolean;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** What went wrong; empty on success. */
  readonly error: string;
  readonly name: string;
}
