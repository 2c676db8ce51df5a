/** What the verbs answer. Written by deno task dashboard from src/protocol/verbs: change it there. */

import type { ProcessInfo } from "../model/process_info.ts";

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
  readonly errorLine?: string;
  /** Untrusted output of the app. */
  readonly lastOutput?: readonly string[];
  /** What to do about it. */
  readonly hint?: string;
}

/** Answer of `reconfigure`. */
export interface ReconfigureResult {
  /** `changed`: nothing had to be replaced. */
  readonly status: "unchanged" | "changed" | "reloaded" | "rolled_back" | "failed";
  /** How it went for each process. */
  readonly results: readonly ActionResult[];
  /** Whether the old ones were put back. */
  readonly rolledBack: boolean;
  /** Whether what runs was replaced. */
  readonly restarted: boolean;
  /** Which keys changed. */
  readonly changes: readonly FieldChange[];
}

/** One changed key, with its values where they may be shown. */
export interface FieldChange {
  /** The key. */
  readonly field: string;
  /** Value before. */
  readonly from?: unknown;
  /** Value after. */
  readonly to?: unknown;
}

/** A schedule. */
export interface Cron {
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
  readonly lastRun: string | null;
  /** How that run went. */
  readonly lastStatus: "ok" | "failed" | "timeout" | "skipped" | "killed" | null;
  /** Its exit code. */
  readonly lastExitCode: number | null;
  /** Null while it is not enabled. */
  readonly nextRun: string | null;
  /** With a name only: the next moments, enabled or not. */
  readonly nextRuns?: readonly string[];
  /** The last runs, the newest last. */
  readonly history: readonly CronRun[];
}

/** One run of a job, or one restart by the clock. */
export interface CronRun {
  /** When it began. */
  readonly startedAt: string;
  /** When it ended. */
  readonly finishedAt: string;
  /** How it went. */
  readonly status: "ok" | "failed" | "timeout" | "skipped" | "killed";
  /** Null when it did not end by itself. */
  readonly exitCode: number | null;
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
export interface History {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Runs of its hooks. */
  readonly hooks: readonly HookRun[];
  /** Its health checks. */
  readonly health: readonly HealthCheck[];
}

/** One run of a hook. */
export interface HookRun {
  /** When it began. */
  readonly at: string;
  /** `pre_start` … `post_healthcheck`. */
  readonly hook: string;
  /** Whether its exit code was 0. */
  readonly ok: boolean;
  /** Null when it did not end by itself, or could not be run. */
  readonly exitCode: number | null;
  /** Whether it was ended at its timeout. */
  readonly timedOut: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  /** The end of what it printed, 2 KiB at most. */
  readonly output: string;
}

/** One health check. */
export interface HealthCheck {
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
export interface MetricsHistory {
  /** When the first step begins. */
  readonly since: string;
  /** End of the last step, or now. */
  readonly until: string;
  /** Nanoseconds from one point to the next. */
  readonly step: number;
  /** One for each process. */
  readonly series: readonly MetricsSeries[];
}

/** The history of one process or of the host. */
export interface MetricsSeries {
  /** Of the process, which may be deleted; null: the host. */
  readonly name: string | null;
  /** The oldest first. Steps without a measurement are missing; unknown figures are null. */
  readonly points: readonly MetricsPoint[];
}

/** The figures of one step of time. */
export interface MetricsPoint {
  /** When the step begins. */
  readonly at: string;
  /** Mean: of one core; for the host of all cores. */
  readonly cpuPercent: number | null;
  /** Highest. */
  readonly cpuPercentMax: number | null;
  /** Mean resident memory of the whole tree; used memory of the host. */
  readonly memoryBytes: number | null;
  /** Highest. */
  readonly memoryBytesMax: number | null;
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

/** Answer of `why`. */
export interface Why {
  /** A process. */
  readonly process: ProcessInfo;
  /** Whole sentences, the most important first. */
  readonly reasons: readonly string[];
  /** The line of its output that says what went wrong, where one does; untrusted. */
  readonly errorLine?: string;
  /** Its last lines of stderr, or of stdout where that says more; untrusted. */
  readonly lastOutput: readonly string[];
  /** Commands that may help. */
  readonly hints: readonly string[];
}

/** Answer of `ping`. */
export interface Ping {
  /** It answers. */
  readonly status: "ok";
  /** Of procsup. */
  readonly version: string;
  /** Number of the IPC protocol. */
  readonly protocol: number;
}

/** The machine and the daemon; memory in bytes. */
export interface SystemMetrics {
  /** Of the machine. */
  readonly totalMemory: number;
  /** What programs hold. */
  readonly usedMemory: number;
  /** Unused. */
  readonly freeMemory: number;
  /** What programs could get. */
  readonly availableMemory: number;
  /** Size of the swap space. */
  readonly swapTotal: number;
  /** Used swap space. */
  readonly swapUsed: number;
  /** Cores. */
  readonly cpuCount: number;
  /** Of all cores together. */
  readonly cpuPercent: number;
  /** Load average of one minute. */
  readonly cpuLoad1: number;
  /** Load average of five minutes. */
  readonly cpuLoad5: number;
  /** Load average of fifteen minutes. */
  readonly cpuLoad15: number;
  /** Since the machine was booted. */
  readonly uptimeSeconds: number;
  /** Processes under supervision. */
  readonly processCount: number;
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
    readonly memoryBytes: number;
    readonly uptimeSeconds: number;
    /** Automatic restarts of processes, as far as this daemon was there. */
    readonly restartsLastHour: number;
  };
}

/** Where the daemon keeps its files. */
export interface SystemInfo {
  /** The daemon's home. */
  readonly home: string;
  /** Its Unix socket. */
  readonly socket: string;
  /** When `save` wrote the list last; null when it never did. */
  readonly savedAt: string | null;
  /** Bytes of the file system that the home is on; 0 where that is not known. */
  readonly diskTotal: number;
  /** Of those, what is left for its user. */
  readonly diskAvailable: number;
}

/** A process that listens on TCP ports, and on which. */
export interface Ports {
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
