/** A process's configuration as a library user writes it. */

import type {
  CronConfig,
  CronRestartConfig,
  DependencyCondition,
  HookConfig,
  HooksConfig,
  ProcessConfig,
  RestartPolicy,
  RuntimeName,
  SecretSource,
  WatchConfig,
} from "./process_config.ts";

/** Defaults for processes that do not set these keys. */
export interface ProcessDefaults {
  /** When a process that has ended is started again. */
  readonly restartPolicy?: RestartPolicy;
  /** Automatic restarts allowed within the window. */
  readonly maxRestarts?: number;
  /** Window for counting restarts: `"1m"`, or an integer of nanoseconds. */
  readonly restWindow?: string | number;
  /** Grace period before SIGKILL: `"5s"`, or an integer of nanoseconds. */
  readonly stopTimeout?: string | number;
}

/** A configuration key as a user writes it: the unit is in the value, not in the name. */
export type ConfigInputKey<K> = K extends `${infer Base}Ms` ? Base
  : K extends `${infer Base}Bytes` ? Base
  : K;

/** The type of a key's value as a user writes it: everything is optional, units may be text. */
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
  /** Number of instances; `max` means one for each CPU. */
  readonly instances?: number | "max";
  /** An empty string means `auto`. */
  readonly runtime?: RuntimeName | "";
  /** Names of processes that must be ready first, or a map of names to conditions. */
  readonly dependsOn?: readonly string[] | Readonly<Record<string, DependencyCondition>>;
  /** One file or a list of files. */
  readonly envFile?: string | readonly string[];
  /** Secret variables, each with the source of its value. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
  /** One variable or a list of variables. */
  readonly incrementEnv?: string | readonly string[];
  /** On or off, a list of paths, or an object with all keys. */
  readonly watch?: boolean | readonly string[] | ConfigInput<WatchConfig>;
  /** A schedule, or an object with all keys. */
  readonly cronRestart?: string | ConfigInput<CronRestartConfig>;
  /** A schedule, or an object with all keys. */
  readonly cron?: string | ConfigInput<CronConfig>;
  /** Each hook is a command, or an object with all keys. */
  readonly hooks?: { readonly [H in keyof HooksConfig]?: string | ConfigInput<HookConfig> };
}

/**
 * A process's configuration as a library user writes it. It needs `name` and one of `entrypoint`,
 * `script`, `binary` and `command`; everything else has a default. Durations are Go strings
 * (`"5s"`) or nanoseconds, sizes are strings (`"512MB"`) or bytes.
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
    /** A command line, instead of `entrypoint` and `args`. */
    readonly command?: string;
  };
