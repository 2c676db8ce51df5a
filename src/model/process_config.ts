/** The configuration of a process, checked and with every default. Written by deno task dashboard from the key table (process_keys.ts): change it there. */

import type { SignalName } from "./signal.ts";

/** The validated configuration of a process. Numbers carry their unit in the name. */
export interface ProcessConfig {
  /** Unique name. 1 to 128 letters, digits, dots, underscores and dashes, with a letter or digit first. Neither all nor digits alone. Instances are called name:0, name:1, … */
  readonly name: string;
  /** Script or program, or a command found on PATH. */
  readonly entrypoint: string;
  /** Arguments. */
  readonly args: readonly string[];
  /** Working directory, absolute. In a file the default is the folder of the file. */
  readonly cwd: string;
  /** What runs the script. */
  readonly runtime: RuntimeName;
  /** Program that runs the script; wins over runtime. */
  readonly interpreter?: string;
  /** Ruby: run under bundle exec. */
  readonly useBundle: boolean;
  /** Keep standard input open; procsup send writes to it. Default: false, and true under procsup run. Without it, standard input is empty. */
  readonly stdin?: boolean;
  /** Give the app a terminal, for procsup attach. Linux only. Both output streams go to the log of stdout. */
  readonly tty: boolean;
  /** Environment variables, over the inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of KEY=VALUE lines, under env. Later files win over earlier ones. `{ path, required: false }` may be missing. */
  readonly envFile: readonly (string | EnvFileConfig)[];
  /** Variables whose values are fetched at each start and never stored, over env. */
  readonly secrets: Readonly<Record<string, SecretSource>>;
  /** Inherit the daemon's environment: all, none, or the named variables. An app with shell_env inherits from that instead. */
  readonly inheritEnv: boolean | readonly string[];
  /** Environment of the shell that started it, inherited in place of the daemon's. Set by procsup start and up for new apps, and by --update-env. */
  readonly shellEnv?: Readonly<Record<string, string>>;
  /** Variables that hold a number to which each instance adds its index. */
  readonly incrementEnv: readonly string[];
  /** Number of copies; max: one for each CPU. */
  readonly instances: number;
  /** Listening sockets, host:port, that every instance inherits from descriptor 3 on. */
  readonly sockets: readonly string[];
  /** Start when the first client connects to one of its sockets. Until then the daemon holds the sockets. The client waits and is served. */
  readonly startOn?: "connection";
  /** With start_on: stop when no client has been connected for this time. The next connection starts it again. */
  readonly idleTimeoutMs?: number;
  /** Group for ns:NAME targets. */
  readonly namespace: string;
  /** Words for tag:WORD targets. */
  readonly tags: readonly string[];
  /** Keys and values for label:KEY=VALUE targets. */
  readonly labels: Readonly<Record<string, string>>;
  /** Processes that must reach a state before this one starts. A list of names means ready. */
  readonly dependsOn: Readonly<Record<string, DependencyCondition>>;
  /** Lower starts first among processes that may start together. */
  readonly priority: number;
  /** Start with the file, on resurrect and after a reboot. */
  readonly autostart: boolean;
  /** When to restart. A job has the default never. */
  readonly restartPolicy: RestartPolicy;
  /** Restarts allowed in the window. 0 allows none. */
  readonly maxRestarts: number;
  /** Window for counting restarts. */
  readonly restartWindowMs: number;
  /** First delay before a restart; it doubles. */
  readonly restartDelayMs: number;
  /** Longest delay before a restart. */
  readonly backoffMaxMs: number;
  /** Uptime that counts as started. Ten times that resets the backoff. */
  readonly minUptimeMs: number;
  /** Exit codes that are not failures. */
  readonly successExitCodes: readonly number[];
  /** Restart when the process tree uses more memory than this. */
  readonly maxMemoryBytes?: number;
  /** Restart when it has run for this time. */
  readonly maxAgeMs?: number;
  /** Restart on a schedule. */
  readonly cronRestart?: CronRestartConfig;
  /** Restart, or act otherwise, when files change. */
  readonly watch?: WatchConfig;
  /** Signal that stops it. */
  readonly stopSignal: SignalName;
  /** Whom a stop signals: all that it started, or its main process alone. With main, the rest is killed when the main process has ended; with leave it keeps running. */
  readonly stopMode: StopMode;
  /** Grace before SIGKILL. 0 kills at once. */
  readonly stopTimeoutMs: number;
  /** Signal on which the app reloads itself. Without one a reload is stop and start. */
  readonly reloadSignal?: SignalName;
  /** On reload start the new run before the old one stops. */
  readonly overlap: boolean;
  /** Count as running only when ready. Node, Deno and Bun apps call process.send('ready'), others write READY=1 to $PROCSUP_READY_FILE. */
  readonly waitReady: boolean;
  /** Time limit for becoming ready. */
  readonly listenTimeoutMs: number;
  /** Ready when a line of output matches this regular expression. */
  readonly readyLog?: string;
  /** Ready after this time. */
  readonly readyDelayMs?: number;
  /** Set NOTIFY_SOCKET: the app reports its state by sd_notify. Default: with watchdog, and with wait_ready unless ready_log, ready_delay or health_check decides. */
  readonly notify?: boolean;
  /** End and restart an app that does not send WATCHDOG=1 for this time. The app gets WATCHDOG_USEC and WATCHDOG_PID. It is ended by SIGABRT. */
  readonly watchdogMs?: number;
  /** Checks while it runs. */
  readonly healthCheck?: HealthCheckConfig;
  /** Run on a schedule instead of keeping it up. */
  readonly cron?: CronConfig;
  /** Conditions of its figures that events, webhooks and the hook on_alert report. Figures: cpu, memory, threads, fds and restarts. */
  readonly alerts: readonly AlertConfig[];
  /** Shell commands at points of its life, run as the app's user. */
  readonly hooks: HooksConfig;
  /** User to run as: name or id. It also applies to hooks, command checks and secret commands. */
  readonly uid?: string | number;
  /** Group to run as: name or id. It also applies to hooks, command checks and secret commands. */
  readonly gid?: string | number;
  /** File mode mask in octal digits. */
  readonly umask: string;
  /** Priority of the scheduler, -20 (first) to 19. */
  readonly nice?: number;
  /** Resource limits. */
  readonly limits: LimitsConfig;
  /** It and the programs that it starts, such as sudo, cannot gain more rights. */
  readonly noNewPrivs: boolean;
  /** It has /tmp and /var/tmp of its own, empty at each start. */
  readonly privateTmp: boolean;
  /** It can write only to writable, /dev, /proc and /sys. With private_tmp also to /tmp. Its logs are written as always. */
  readonly readOnly: boolean;
  /** Files and folders that it can write to despite read_only. */
  readonly writable: readonly string[];
  /** Log files and their rotation. */
  readonly log: LogConfig;
}

/** Determines the command line of an entrypoint; `auto` detects it from files. */
export type RuntimeName = "go" | "python" | "node" | "bun" | "deno" | "ruby" | "php" | "auto";

/** A file of variables that may be missing. */
export interface EnvFileConfig {
  /** File. */
  readonly path: string;
  /** Fail the start if it is missing. */
  readonly required: boolean;
}

/** Where to get the value of a secret: exactly one of these. */
export interface SecretSource {
  /** Variable of the supervisor's environment. */
  readonly env?: string;
  /** File, without the newline at its end. */
  readonly file?: string;
  /** Shell command that prints it, without the newline at its end. */
  readonly command?: string;
}

/** The state that a dependency must reach. */
export type DependencyCondition = "started" | "ready" | "healthy" | "completed" | "completed_ok";

/** When to restart a process that has ended. */
export type RestartPolicy = "always" | "on-failure" | "never";

/** A schedule of restarts. */
export interface CronRestartConfig {
  /** 5 or 6 fields, or a word such as @daily or @every 30s. */
  readonly schedule: string;
  /** IANA name; default: the machine's. */
  readonly timezone?: string;
  /** Delay each run by a random time up to this, and less than to the next run. */
  readonly randomDelayMs?: number;
}

/** What to do when files change. */
export interface WatchConfig {
  /** Whether to watch. */
  readonly enabled: boolean;
  /** Files and folders; default: the working directory. */
  readonly paths: readonly string[];
  /** Globs, relative to the watched path. */
  readonly ignore: readonly string[];
  /** Quiet time before the restart. */
  readonly debounceMs: number;
  /** What to do: restart, reload, command, or signal: and a signal. */
  readonly action: string;
  /** With action command: what to run, in the form of a hook. */
  readonly command?: HookConfig;
  /** Look at the files every second or less often, for file systems that tell no changes. */
  readonly poll: boolean;
}

/** A shell command run at a point of a process's life. */
export interface HookConfig {
  /** Run with sh -c; without one the hook is skipped. */
  readonly command: string;
  /** Time limit. */
  readonly timeoutMs: number;
  /** Continue when it fails. */
  readonly ignoreFailure: boolean;
  /** Run as root, for an app with another user. */
  readonly runAsRoot: boolean;
}

/** Whom a stop signals. */
export type StopMode = "group" | "main" | "leave";

/** How a process is checked while it runs. */
export interface HealthCheckConfig {
  /** Protocol. */
  readonly type: "http" | "tcp" | "command";
  /** For http; a status from 200 to 399 is healthy. */
  readonly url?: string;
  /** For http: accept every certificate. */
  readonly insecure?: boolean;
  /** For http: what the answer must be. */
  readonly expect?: ExpectConfig;
  /** For tcp: host:port. */
  readonly tcpEndpoint?: string;
  /** For command: run with sh -c; exit code 0 is healthy. */
  readonly command?: string;
  /** Time between checks. */
  readonly intervalMs: number;
  /** Time limit of one check. */
  readonly timeoutMs: number;
  /** Failures in a row until unhealthy. */
  readonly retries: number;
  /** Successes in a row until healthy. */
  readonly successThreshold: number;
  /** Time after the start in which failures do not count. */
  readonly gracePeriodMs: number;
  /** What to do when unhealthy: restart, none, or signal: and a signal. */
  readonly onFailure: string;
}

/** What the answer to a check must be. */
export interface ExpectConfig {
  /** One of these, in place of 200 to 399. */
  readonly status?: readonly number[];
  /** Headers, each with a text that its value has. */
  readonly header?: Readonly<Record<string, string>>;
  /** A text in the first 64 KiB of the body. */
  readonly text?: string;
}

/** A schedule of runs. */
export interface CronConfig {
  /** 5 or 6 fields, or a word such as @daily or @every 30s. */
  readonly schedule: string;
  /** IANA name; default: the machine's. */
  readonly timezone?: string;
  /** Delay each run by a random time up to this, and less than to the next run. */
  readonly randomDelayMs?: number;
  /** What happens when a run is due while the last one still runs. */
  readonly overlap: "skip" | "kill" | "queue";
  /** Whether runs that were missed are made up for by one. A run is missed while no daemon runs, the machine sleeps or is off. */
  readonly catchUp: "none" | "once";
  /** Time limit of one run. */
  readonly timeoutMs?: number;
  /** Start it by the schedule. */
  readonly enabled: boolean;
}

/** A condition that is reported when it begins to hold, and when it no longer does. */
export interface AlertConfig {
  /** Condition, such as memory > 400MB for 5m, restarts > 5 in 10m or job overdue. */
  readonly when: string;
  /** Time without the condition until it is resolved. */
  readonly resolveAfterMs: number;
}

/** Hooks by the point at which they run. */
export interface HooksConfig {
  /** Before each start. The start waits for it, and fails if it fails. */
  readonly preStart?: HookConfig;
  /** After each start. */
  readonly postStart?: HookConfig;
  /** Before the stop signal. */
  readonly preStop?: HookConfig;
  /** After each stop, not after an exit by itself. */
  readonly postStop?: HookConfig;
  /** Before a restart. */
  readonly preRestart?: HookConfig;
  /** After a restart. */
  readonly postRestart?: HookConfig;
  /** Before a reload. */
  readonly preReload?: HookConfig;
  /** After a reload. */
  readonly postReload?: HookConfig;
  /** Before each health check. */
  readonly preHealthCheck?: HookConfig;
  /** After each health check. */
  readonly postHealthCheck?: HookConfig;
  /** After a run failed. Standard input is the event as JSON, as webhooks send it. */
  readonly onCrash?: HookConfig;
  /** When it is given up. */
  readonly onErrored?: HookConfig;
  /** When its health checks fail. */
  readonly onUnhealthy?: HookConfig;
  /** When one of its alerts fires, or is resolved. */
  readonly onAlert?: HookConfig;
}

/** Resource limits. cgroup limits apply to the process tree. */
export interface LimitsConfig {
  /** Open files of each process. Default: the soft limit of the shell or service that started the daemon. */
  readonly nofile?: number;
  /** Processes of the user. */
  readonly nproc?: number;
  /** Core dumps. */
  readonly coreBytes?: number;
  /** Address space of each process. */
  readonly addressSpaceBytes?: number;
  /** Size of a file that it writes. */
  readonly fileSizeBytes?: number;
  /** cgroup: memory of the process tree. */
  readonly memoryBytes?: number;
  /** cgroup: memory above which the process tree is slowed down and its caches are freed. */
  readonly memoryHighBytes?: number;
  /** cgroup: percent of one core. */
  readonly cpuPercent?: number;
  /** cgroup: share of the processors while they are all busy; that of others is 100. */
  readonly cpuWeight?: number;
  /** cgroup: bytes and operations per second on one device. lsblk shows the number of a device. */
  readonly ioMax?: string;
  /** cgroup: processes in the tree. */
  readonly pids?: number;
}

/** How logs are written and rotated. */
export interface LogConfig {
  /** Size at which a log is rotated. */
  readonly maxSizeBytes: number;
  /** Archives to keep. */
  readonly maxFiles: number;
  /** Age at which archives are removed. */
  readonly maxAgeMs: number;
  /** Compress archives with gzip. */
  readonly compress: boolean;
  /** Write through pipes, which keep all of an app that opens /dev/stdout or /dev/stderr. auto: when the command or its script names them, or the app truncated its log. */
  readonly pipe: boolean | "auto";
  /** daily: rotate at local midnight as well. */
  readonly rotate: "size" | "daily";
  /** File for stdout, in place of the one in the home. {name} and {instance} stand for the process and the index of the instance. */
  readonly stdout?: string;
  /** File for stderr, in place of the one in the home. With the path of stdout, both streams go to one file. */
  readonly stderr?: string;
  /** File mode of logs outside the home, and of their archives. Default: 0600. For a collector of another user. */
  readonly mode?: string;
}

/** The points at which hooks run. */
export type HookName = keyof HooksConfig;
