/** The objects nested in a process's configuration. */

/** How a process is checked while it runs (spec 2.3). */
export interface HealthCheckConfig {
  /** What kind of check. */
  readonly type: "http" | "tcp" | "command";
  /** For `http`: healthy is a status from 200 to 399. */
  readonly url?: string;
  /** For `tcp`: `host:port`. */
  readonly tcpEndpoint?: string;
  /** For `command`: run with `sh -c`; healthy is exit code 0. */
  readonly command?: string;
  /** Time from one check to the next. */
  readonly intervalMs: number;
  /** Time one check may take. */
  readonly timeoutMs: number;
  /** Failures in a row that make it unhealthy. */
  readonly retries: number;
  /** Successes in a row that make it healthy. */
  readonly successThreshold: number;
  /** Time after the start in which failures do not count. */
  readonly gracePeriodMs: number;
  /** What is done when it is unhealthy: `restart`, `none`, or `signal:SIGTERM`. */
  readonly onFailure: string;
}

/** A shell command at a point in the life of a process (spec 6.2). */
export interface HookConfig {
  /** Run with `sh -c`; nothing is run when it is empty. */
  readonly command: string;
  /** Time it may take. */
  readonly timeoutMs: number;
  /** Whether what it guards goes on when it fails. */
  readonly ignoreFailure: boolean;
  /** Run by root, for an app with another user. */
  readonly runAsRoot: boolean;
}

/** The ten points at which hooks run. */
export type HookName =
  | "preStart"
  | "postStart"
  | "preStop"
  | "postStop"
  | "preRestart"
  | "postRestart"
  | "preReload"
  | "postReload"
  | "preHealthCheck"
  | "postHealthCheck";

/** Hooks by their point. */
export type HooksConfig = { readonly [H in HookName]?: HookConfig };

/** Restart when files change (spec 2.3). */
export interface WatchConfig {
  /** Whether it is on. */
  readonly enabled: boolean;
  /** Against the working directory; default: that directory itself. */
  readonly paths: readonly string[];
  /** Globs, against the watched path. */
  readonly ignore: readonly string[];
  /** Quiet time after a change before the restart. */
  readonly debounceMs: number;
}

/** What a dependency must have come to. */
export type DependencyCondition = "started" | "ready" | "healthy" | "completed" | "completed_ok";

/** A schedule of restarts. */
export interface CronRestartConfig {
  /** 5 or 6 fields. */
  readonly schedule: string;
  /** IANA name; default: the machine's. */
  readonly timezone?: string;
}

/** A schedule of runs. */
export interface CronConfig extends CronRestartConfig {
  /** What happens when a run is due while the last one runs. */
  readonly overlap: "skip" | "kill" | "queue";
  /** A run is ended after this time. */
  readonly timeoutMs?: number;
  /** Whether the clock starts it. */
  readonly enabled: boolean;
}

/** Limits of resources. Those of ulimit hold for each process, those of the cgroup for the tree. */
export interface LimitsConfig {
  /** Open files. */
  readonly nofile?: number;
  /** Processes of the user. */
  readonly nproc?: number;
  /** Size of core dumps, in bytes. */
  readonly coreBytes?: number;
  /** Address space, in bytes. */
  readonly addressSpaceBytes?: number;
  /** Size of files written, in bytes. */
  readonly fileSizeBytes?: number;
  /** cgroup: memory of the tree, in bytes. */
  readonly memoryBytes?: number;
  /** cgroup: percent of one core. */
  readonly cpuPercent?: number;
  /** cgroup: number of processes in the tree. */
  readonly pids?: number;
}

/** How logs are written and rotated. */
export interface LogConfig {
  /** Size at which a log is rotated. */
  readonly maxSizeBytes: number;
  /** Archives that are kept. */
  readonly maxFiles: number;
  /** Age at which archives are removed. */
  readonly maxAgeMs: number;
  /** Whether archives are compressed with gzip. */
  readonly compress: boolean;
  /** Whether the app writes into pipes: for one that opens `/dev/stdout` or `/dev/stderr` itself. */
  readonly pipe: boolean;
}
