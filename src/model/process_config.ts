/** What is asked of a process: the configuration, checked and with every default filled in. */

import type {
  CronConfig,
  CronRestartConfig,
  DependencyCondition,
  HealthCheckConfig,
  HookConfig,
  HookName,
  HooksConfig,
  LimitsConfig,
  LogConfig,
  WatchConfig,
} from "./config_parts.ts";
import type { SignalName } from "./signal.ts";

/** When a process that ended by itself is started again (spec 2.2). */
export type RestartPolicy = "always" | "on-failure" | "never";

/** How the command line of an entrypoint is made (spec 2.5). */
export type RuntimeName = "go" | "python" | "node" | "bun" | "deno" | "ruby" | "php" | "auto";

/** A process's configuration as procsup works with it. Numbers carry their unit in the name. */
export interface ProcessConfig {
  /** Unique name; its instances are called `name:0`, `name:1`, … */
  readonly name: string;
  /** Path of a script or program, or a command found on PATH. */
  readonly entrypoint: string;
  /** How its command line is made; `auto` looks at the files. */
  readonly runtime: RuntimeName;
  /** Program that runs the entrypoint; wins over `runtime`. */
  readonly interpreter?: string;
  /** Ruby: run under `bundle exec`. */
  readonly useBundle: boolean;
  /** Arguments of the entrypoint. */
  readonly args: readonly string[];
  /** Absolute working directory. */
  readonly cwd: string;
  /** Laid over the environment the process inherits. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of `NAME=value` lines, laid under `env`, the later over the earlier. */
  readonly envFile: readonly string[];
  /** Variables whose values are fetched at each start, and kept nowhere; laid over `env`. */
  readonly secrets: Readonly<Record<string, SecretSource>>;
  /** Whether the supervisor's environment is inherited: all, none, or the variables named. */
  readonly inheritEnv: boolean | readonly string[];
  /** Variables of `env` that hold a number to which each instance adds its index. */
  readonly incrementEnv: readonly string[];
  /** Start again on resurrect and after a reboot. */
  readonly autostart: boolean;
  /** When it is started again after it ended by itself. */
  readonly restartPolicy: RestartPolicy;
  /** Automatic restarts allowed within `restartWindowMs`; 0 allows none. */
  readonly maxRestarts: number;
  /** The time in which `maxRestarts` are counted. */
  readonly restartWindowMs: number;
  /** Delay before the first automatic restart; doubles with every failure in a row. */
  readonly restartDelayMs: number;
  /** The longest delay before a restart. */
  readonly backoffMaxMs: number;
  /** Time a process must live to count as started; ten times that resets the backoff. */
  readonly minUptimeMs: number;
  /** Exit codes that are no failure. */
  readonly successExitCodes: readonly number[];
  /** What asks it to end. */
  readonly stopSignal: SignalName;
  /** Grace between the stop signal and SIGKILL; 0 kills at once. */
  readonly stopTimeoutMs: number;
  /** Signal that makes the process reload by itself; without one a reload is stop and start. */
  readonly reloadSignal?: SignalName;
  /** On reload start the new one first, and stop the old one when the new one is ready. */
  readonly overlap: boolean;
  /** Count as running only when ready. */
  readonly waitReady: boolean;
  /** How long becoming ready may take. */
  readonly listenTimeoutMs: number;
  /** Ready when a line of its output matches this regular expression. */
  readonly readyLog?: string;
  /** Ready when it has been up for that long. */
  readonly readyDelayMs?: number;
  /** How it is checked while it runs. */
  readonly healthCheck?: HealthCheckConfig;
  /** Commands run at points of its life. */
  readonly hooks: HooksConfig;
  /** Restart when files change. */
  readonly watch?: WatchConfig;
  /** How many copies run. */
  readonly instances: number;
  /** Group, addressed as `ns:<name>`. */
  readonly namespace: string;
  /** Key-value pairs, addressed as `label:<key>=<value>`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Words, addressed as `tag:<word>`. */
  readonly tags: readonly string[];
  /** Names of processes that must have come to a point before this one starts. */
  readonly dependsOn: Readonly<Record<string, DependencyCondition>>;
  /** Lower starts first. */
  readonly priority: number;
  /** Restart by the clock. */
  readonly cronRestart?: CronRestartConfig;
  /** Run by the clock, instead of being kept up. */
  readonly cron?: CronConfig;
  /** Memory of the whole tree that makes it be restarted. */
  readonly maxMemoryBytes?: number;
  /** Age that makes it be restarted. */
  readonly maxAgeMs?: number;
  /** Listening sockets, `address:port`, that every instance inherits from descriptor 3 on. */
  readonly sockets: readonly string[];
  /** User name or id to run as. */
  readonly uid?: string | number;
  /** Group name or id to run as. */
  readonly gid?: string | number;
  /** Octal file mode mask: `"027"`. */
  readonly umask?: string;
  /** -20 (first) to 19 (last). */
  readonly nice?: number;
  /** What it may use. */
  readonly limits: LimitsConfig;
  /** How its logs are rotated. */
  readonly log: LogConfig;
}

/** Where the value of a secret is: exactly one of these. */
export interface SecretSource {
  /** A variable of the supervisor's environment. */
  readonly env?: string;
  /** A file, without the newline at its end. */
  readonly file?: string;
  /** A shell command that prints it, without the newline at its end. */
  readonly command?: string;
}

/** Values for all processes that do not set them themselves (spec 2.4). */
export interface ProcessDefaults {
  /** When a process that ended by itself is started again. */
  readonly restartPolicy?: RestartPolicy;
  /** Automatic restarts allowed within the window. */
  readonly maxRestarts?: number;
  /** Window for counting restarts: `"1m"`, or an integer of nanoseconds. */
  readonly restWindow?: string | number;
  /** Grace period before SIGKILL: `"5s"`, or an integer of nanoseconds. */
  readonly stopTimeout?: string | number;
}

/** A configuration key as a user writes it: without the unit, which stands in the value. */
export type ConfigInputKey<K> = K extends `${infer Base}Ms` ? Base
  : K extends `${infer Base}Bytes` ? Base
  : K;

/** What a key takes: durations and sizes as strings, everything optional. */
export type ConfigInputValue<K, T> = K extends
  `${string}Ms` | `${string}Bytes` | "stopSignal" | "reloadSignal" ? string | number
  : T extends readonly unknown[] | string | number | boolean ? T
  : T extends Readonly<Record<string, string>> ? T
  : T extends object ? ConfigInput<T>
  : T;

/** A configuration as a user writes it. */
export type ConfigInput<T> = {
  readonly [K in keyof T as ConfigInputKey<K>]?: ConfigInputValue<K, NonNullable<T[K]>>;
};

/** Keys that also take a shorter form. */
export interface ConfigShorthand {
  /** Names, each of which must be ready; or names and what they must have come to. */
  readonly dependsOn?: readonly string[] | Readonly<Record<string, DependencyCondition>>;
  /** One file or several. */
  readonly envFile?: string | readonly string[];
  /** Variables whose values come from elsewhere. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
  /** One variable or several. */
  readonly incrementEnv?: string | readonly string[];
  /** Whether, or which paths, or in full. */
  readonly watch?: boolean | readonly string[] | ConfigInput<WatchConfig>;
  /** The schedule alone, or in full. */
  readonly cronRestart?: string | ConfigInput<CronRestartConfig>;
  /** The schedule alone, or in full. */
  readonly cron?: string | ConfigInput<CronConfig>;
  /** Commands alone, or in full. */
  readonly hooks?: { readonly [H in HookName]?: string | ConfigInput<HookConfig> };
}

/**
 * A process's configuration as a library user writes it: `name` and one of `entrypoint`, `script`
 * and `binary`; all else has a default. Durations are Go strings (`"5s"`) or nanoseconds, sizes
 * strings (`"512MB"`) or bytes.
 */
export type ProcessConfigInput =
  & Omit<ConfigInput<ProcessConfig>, keyof ConfigShorthand>
  & ConfigShorthand
  & {
    /** Unique name. */
    readonly name: string;
    /** Same as `entrypoint`. */
    readonly script?: string;
    /** Same as `entrypoint`. */
    readonly binary?: string;
  };
