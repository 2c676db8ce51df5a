/** Options of the client's methods. */

import type { DurationInput } from "../model/duration.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import type { LogLevel } from "../model/log_line.ts";
import type { WaitPoint } from "../model/wait_point.ts";
import type { CallOptions } from "./transport.ts";

/** A daemon on this machine. */
export interface SocketOptions {
  /** Its home; default `$PROCSUP_HOME`, else `~/.procsup`. */
  readonly home?: string;
}

/** A daemon by its web listener. */
export interface UrlOptions {
  /** Such as `http://127.0.0.1:9615`, or `https://example.com/procsup` where a proxy stands before it. */
  readonly url: string;
  /** As `procsup token` prints it. */
  readonly token: string;
}

/** Which daemon. */
export type ClientOptions = SocketOptions | UrlOptions;

/** How a start is meant. */
export interface StartOptions extends CallOptions {
  /** Resolve only when it is ready, or has stayed up for its `minUptime`; default: at the spawn. */
  readonly wait?: boolean;
}

/** How a stop is meant. */
export interface StopOptions extends CallOptions {
  /** SIGKILL at once. */
  readonly force?: boolean;
  /** Grace before SIGKILL: a Go duration (`"5s"`), or nanoseconds; default: its `stopTimeout`. */
  readonly timeout?: DurationInput;
}

/** How a reload batch by batch is meant. */
export interface RollingOptions extends CallOptions {
  /** Instances at a time: a number, or a part such as `"25%"`; default 1. */
  readonly batchSize?: number | string;
  /** Go on only when the batch is ready; default true. */
  readonly waitReady?: boolean;
  /** Put the old ones back on all when one fails; default false. */
  readonly rollbackOnFailure?: boolean;
}

/** How a configuration is changed. */
export interface ReconfigureOptions extends RollingOptions {
  /** Keys that are not named get their defaults, but for the name and the number of instances. */
  readonly replace?: boolean;
  /** Put the old configuration back on all when one fails; default true. */
  readonly rollbackOnFailure?: boolean;
}

/** Keys of a configuration to change; null takes one away. */
export type ConfigChanges = {
  readonly [K in Exclude<keyof ProcessConfigInput, "name" | "instances">]?:
    | ProcessConfigInput[K]
    | null;
};

/** What is waited for. */
export interface WaitOptions extends CallOptions {
  /**
   * `running`, `ready` (the default), `stopped`, or `exit`: at rest for good, whether stopped, crashed
   * or given up.
   */
  readonly for?: WaitPoint;
  /** Fails with `timeout` after that; default: waits for ever. A Go duration, or nanoseconds. */
  readonly timeout?: DurationInput;
}

/** How the list of processes is saved. */
export interface SaveOptions extends CallOptions {
  /** Save even when there is nothing to save; default: refuse when something was saved before. */
  readonly allowEmpty?: boolean;
}

/** What the lines of a log must be like. */
export interface LineFilter {
  /** Lines from then on, archives included: a time, or how long ago (`"10m"`). */
  readonly since?: string | Date;
  /** Lines up to then. */
  readonly until?: string | Date;
  /** Lines that match a regular expression, which the daemon reads as RE2. */
  readonly grep?: string;
  /** With `grep`: lines that do not match. */
  readonly invert?: boolean;
  /** With `grep`: capital and small letters match each other. */
  readonly ignoreCase?: boolean;
  /** Lines of that level and graver ones, with their stack traces. */
  readonly level?: LogLevel;
}

/** Which lines of a log. */
export interface LogQuery extends LineFilter, CallOptions {
  /** How many of the last lines, 0 for all that fits; default 50. */
  readonly lines?: number;
  /** Standard error instead of standard output. */
  readonly stderr?: boolean;
  /** Each line begins with its time. */
  readonly timestamps?: boolean;
}

/** Which part of the metrics history. */
export interface MetricsQuery extends CallOptions {
  /** From then on: `3h` ago, or an ISO 8601 time; default `1h`. */
  readonly since?: string;
  /** Up to then; default: now. */
  readonly until?: string;
  /** Most points of each process, at most 10,000; default 120. */
  readonly points?: number;
}

/** Which lines of logs, as a stream. */
export interface StreamQuery extends LineFilter, CallOptions {
  /** How many of the last lines to begin with; default 50, or all with a filter. */
  readonly lines?: number;
  /** Go on with what is written from now on; goes with no `until`. */
  readonly follow?: boolean;
  /** With `follow`: nothing of what is there. */
  readonly newOnly?: boolean;
  /** One of both instead of both. */
  readonly only?: "stdout" | "stderr";
}

/** Which news. */
export interface EventQuery extends CallOptions {
  /** Of these processes alone, as they are now; default: of all, those to come included. */
  readonly target?: string;
}
