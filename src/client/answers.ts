/** What the verbs answer. Written by deno task dashboard from src/verbs: change it there. */

import type { Hint } from "../model/hint.ts";
import type { ProcessInfo } from "../model/process_info.ts";

/** The result of a verb for one process. */
export interface ProcessResult {
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
  /** True if it was deleted. */
  readonly deleted?: boolean;
  /** What went wrong, if it failed. */
  readonly error?: string;
  /** Name of the error. */
  readonly code?: string;
  /** The line of output that says what went wrong. */
  readonly errorLine?: string;
  /** Untrusted output of the app. */
  readonly lastOutput?: readonly string[];
  /** What to do about it. */
  readonly hint?: Hint;
}

/** Answer of `reconfigure`. */
export interface ReconfigureResult {
  /** `changed`: nothing had to be replaced. */
  readonly status: "unchanged" | "changed" | "reloaded" | "rolled_back" | "failed" | "planned";
  /** One for each process. */
  readonly results: readonly ProcessResult[];
  /** Whether the old configuration was restored. */
  readonly rolledBack: boolean;
  /** Whether the run was replaced, or would be. */
  readonly restarted: boolean;
  /** Which keys changed. */
  readonly changes: readonly FieldChange[];
}

/** A changed key, with its values if they may be shown. */
export interface FieldChange {
  /** The key. */
  readonly field: string;
  /** Value before. */
  readonly from?: unknown;
  /** Value after. */
  readonly to?: unknown;
}

/** An alert with its state. */
export interface Alert {
  /** Name of the process; `.host` for an alert of the host. */
  readonly name: string;
  /** Its condition. */
  readonly when: string;
  /** pending: the condition holds, but not yet for its time. */
  readonly state: "ok" | "pending" | "firing";
  /** When it became pending or began to fire; null if neither. */
  readonly since: string | null;
  /** The value at the last measurement; empty if unknown. */
  readonly value: string;
}

/** A schedule. */
export interface Cron {
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
  readonly lastRun: string | null;
  /** Result of that run. */
  readonly lastStatus: "ok" | "failed" | "timeout" | "skipped" | "killed" | null;
  /** Exit code of that run. */
  readonly lastExitCode: number | null;
  /** Null while the schedule is disabled. */
  readonly nextRun: string | null;
  /** The due time since which a run is missing; null if none. */
  readonly overdueSince: string | null;
  /** Only with a name: the next times, enabled or not. */
  readonly nextRuns?: readonly string[];
  /** The last runs, the newest last. */
  readonly history: readonly CronRun[];
}

/** One run of a cron job, or one restart by cron. */
export interface CronRun {
  /** When it began. */
  readonly startedAt: string;
  /** When it ended. */
  readonly finishedAt: string;
  /** Result. */
  readonly status: "ok" | "failed" | "timeout" | "skipped" | "killed";
  /** Null if it did not exit by itself. */
  readonly exitCode: number | null;
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
export interface History {
  /** Name of the process. */
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
  /** Null if it was killed, or could not be run. */
  readonly exitCode: number | null;
  /** Whether it was killed at its timeout. */
  readonly timedOut: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  /** End of its output, up to 2 KiB. */
  readonly output: string;
}

/** One health check. */
export interface HealthCheck {
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
export interface MetricsHistory {
  /** Start of the first step. */
  readonly since: string;
  /** End of the last step, or now. */
  readonly until: string;
  /** Nanoseconds between points. */
  readonly step: number;
  /** One for each process. */
  readonly series: readonly MetricsSeries[];
  /** Only of the host: when no daemon ran, for 20 s or longer. */
  readonly gaps?: readonly {
    readonly from: string;
    readonly to: string;
  }[];
}

/** The history of one process or of the host. */
export interface MetricsSeries {
  /** Name of the process, which may be deleted; null for the host. */
  readonly name: string | null;
  /** The oldest first. Steps without a measurement are left out; unknown figures are null. */
  readonly points: readonly MetricsPoint[];
}

/** The figures of one step. */
export interface MetricsPoint {
  /** Start of the step. */
  readonly at: string;
  /** Mean percent of one core; for the host, of all cores. */
  readonly cpuPercent?: number | null;
  /** Highest. */
  readonly cpuPercentMax?: number | null;
  /** Mean resident memory of the process tree; for the host, used memory. */
  readonly memoryBytes?: number | null;
  /** Highest. */
  readonly memoryBytesMax?: number | null;
  /** Mean. */
  readonly threads?: number | null;
  /** Mean number of open file descriptors. */
  readonly fds?: number | null;
  /** Load average of one minute; only for the host. */
  readonly load?: number | null;
  /** Automatic restarts up to the end of the step. */
  readonly restarts?: number;
  /** Nanoseconds, at the end of the step. */
  readonly uptime?: number;
  /** Share of the step in which it ran, from 0 to 1. */
  readonly up?: number;
  /** Share of the checked time in which it was healthy, from 0 to 1; null without checks. */
  readonly healthy?: number | null;
}

/** Answer of `why`. */
export interface Why {
  /** A process. */
  readonly process: ProcessInfo;
  /** Sentences, the most important first. */
  readonly reasons: readonly string[];
  /** The line of output that says what went wrong, if any; untrusted. */
  readonly errorLine?: string;
  /** Last lines of stderr, or of stdout if those say more; untrusted. */
  readonly lastOutput: readonly string[];
  /** The last change of its app, if any is on record; not its rollback. */
  readonly lastRelease?: Release;
  /** What may help. */
  readonly hints: readonly Hint[];
}

/** A change of an app, under way or over. */
export interface Release {
  /** Name of the app. */
  readonly app: string;
  /** Number of the configuration that it makes. */
  readonly generation: number;
  /** The generation that failed, if this is its rollback. */
  readonly undoes?: number;
  /** Who asked. */
  readonly by: string;
  /** Keys that changed; empty for the same configuration. */
  readonly changed: readonly string[];
  /** When it began. */
  readonly begunAt: string;
  /** When it ended; null while it is under way. */
  readonly endedAt: string | null;
  /** How it ended; null while it is under way. */
  readonly result: "done" | "failed" | "rolled_back" | "superseded" | null;
  /** Why it failed, if an instance did not come up. */
  readonly failure?: {
    /** The first instance that did not come up. */
    readonly instance: string;
    /** Reason. */
    readonly reason: string;
    /** Last lines of the failed run; untrusted. */
    readonly lastOutput: readonly string[];
  };
}

/** Answer of `ping`. */
export interface Ping {
  /** The daemon answers. */
  readonly status: "ok";
  /** Version of procsup. */
  readonly version: string;
  /** Number of the IPC protocol. */
  readonly protocol: number;
}

/** Host and daemon; memory in bytes. */
export interface SystemMetrics {
  /** Memory of the machine. */
  readonly totalMemory: number;
  /** Memory used by programs. */
  readonly usedMemory: number;
  /** Unused memory. */
  readonly freeMemory: number;
  /** Memory that programs could get. */
  readonly availableMemory: number;
  /** Size of the swap space. */
  readonly swapTotal: number;
  /** Used swap space. */
  readonly swapUsed: number;
  /** Cores. */
  readonly cpuCount: number;
  /** Percent of all cores together. */
  readonly cpuPercent: number;
  /** Load average of one minute. */
  readonly cpuLoad1: number;
  /** Load average of five minutes. */
  readonly cpuLoad5: number;
  /** Load average of fifteen minutes. */
  readonly cpuLoad15: number;
  /** Seconds since the machine booted. */
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
    /** Automatic restarts of processes since this daemon started, within the last hour. */
    readonly restartsLastHour: number;
    /** Changes of apps that ended since this daemon started, by their result. */
    readonly releases: {
      readonly done: number;
      readonly failed: number;
      readonly rolledBack: number;
      readonly superseded: number;
    };
  };
}

/** Where the daemon keeps its files. */
export interface SystemInfo {
  /** The daemon's home. */
  readonly home: string;
  /** Its Unix socket. */
  readonly socket: string;
  /** Time of the last `save`; null if there was none. */
  readonly savedAt: string | null;
  /** Bytes of the home's file system; 0 if unknown. */
  readonly diskTotal: number;
  /** Bytes of it that are available to the user. */
  readonly diskAvailable: number;
}

/** A process that listens on TCP ports, and on which. */
export interface Ports {
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
