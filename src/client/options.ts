/** Options of the client's methods. */

import type { CallOptions, RollingOptions } from "../library/options.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";

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

/** Which part of the metrics history. */
export interface MetricsQuery extends CallOptions {
  /** From then on: `3h` ago, or an ISO 8601 time; default `1h`. */
  readonly since?: string;
  /** Up to then; default: now. */
  readonly until?: string;
  /** Most points of each process, at most 10,000; default 120. */
  readonly points?: number;
}

/** Which events. */
export interface EventQuery extends CallOptions {
  /** Of these processes alone, as they are now; default: of all, those to come included. */
  readonly target?: string;
}
