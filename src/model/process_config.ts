/** What is asked of a process: the configuration, checked and with every default filled in. */

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
  readonly runtime: RuntimeName;
  /** Program that runs the entrypoint; wins over `runtime`. */
  readonly interpreter?: string;
  /** Ruby: run under `bundle exec`. */
  readonly useBundle: boolean;
  readonly args: readonly string[];
  /** Absolute working directory. */
  readonly cwd: string;
  /** Laid over the environment the process inherits. */
  readonly env: Readonly<Record<string, string>>;
  /** Start again on resurrect and after a reboot. */
  readonly autostart: boolean;
  readonly restartPolicy: RestartPolicy;
  /** Automatic restarts allowed within `restartWindowMs`; 0 allows none. */
  readonly maxRestarts: number;
  readonly restartWindowMs: number;
  /** Delay before the first automatic restart; doubles with every failure in a row. */
  readonly restartDelayMs: number;
  readonly backoffMaxMs: number;
  /** Time a process must live to count as started; ten times that resets the backoff. */
  readonly minUptimeMs: number;
  /** Exit codes that are no failure. */
  readonly successExitCodes: readonly number[];
  readonly stopSignal: SignalName;
  /** Grace between the stop signal and SIGKILL; 0 kills at once. */
  readonly stopTimeoutMs: number;
  /** Signal that makes the process reload by itself; without one a reload is stop and start. */
  readonly reloadSignal?: SignalName;
  readonly instances: number;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
}

/** Values for all processes that do not set them themselves (spec 2.4). */
export interface ProcessDefaults {
  readonly restartPolicy?: RestartPolicy;
  readonly maxRestarts?: number;
  /** Window for counting restarts: `"1m"`, or an integer of nanoseconds. */
  readonly restWindow?: string | number;
  /** Grace period before SIGKILL: `"5s"`, or an integer of nanoseconds. */
  readonly stopTimeout?: string | number;
}

/** A duration, a size or a plain value, as `ProcessConfigInput` takes them. */
type Input<T> = {
  readonly [K in keyof T as K extends `${infer Base}Ms` ? Base : K]?: K extends `${string}Ms`
    ? string | number
    : K extends "stopSignal" | "reloadSignal" ? string | number
    : T[K];
};

/**
 * A process's configuration as a library user writes it: `name` and one of `entrypoint`, `script`
 * and `binary`; all else has a default. Durations are Go strings (`"5s"`) or nanoseconds.
 */
export type ProcessConfigInput = Input<ProcessConfig> & {
  readonly name: string;
  /** Same as `entrypoint`. */
  readonly script?: string;
  /** Same as `entrypoint`. */
  readonly binary?: string;
};
