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
  /** `max`: one for each processor. */
  readonly instances?: number | "max";
  /** An empty one is `auto`. */
  readonly runtime?: RuntimeName | "";
  /** Names, each of which must be ready; or names and the states that they must reach. */
  readonly dependsOn?: readonly string[] | Readonly<Record<string, DependencyCondition>>;
  /** One file or several. */
  readonly envFile?: string | readonly string[];
  /** Variables whose values come from elsewhere. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
  /** One variable or several. */
  readonly incrementEnv?: string | readonly string[];
  /** On or off, or paths, or all keys. */
  readonly watch?: boolean | readonly string[] | ConfigInput<WatchConfig>;
  /** The schedule alone, or all keys. */
  readonly cronRestart?: string | ConfigInput<CronRestartConfig>;
  /** The schedule alone, or all keys. */
  readonly cron?: string | ConfigInput<CronConfig>;
  /** Commands alone, or all keys. */
  readonly hooks?: { readonly [H in keyof HooksConfig]?: string | ConfigInput<HookConfig> };
}

/**
 * A process's configuration as a library user writes it: `name` and one of `entrypoint`, `script`,
 * `binary` and `command`; all else has a default. Durations are Go strings (`"5s"`) or nanoseconds, sizes
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
    /** A command line, instead of `entrypoint` and `args`. */
    readonly command?: string;
  };
