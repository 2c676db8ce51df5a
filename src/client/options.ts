/** Options of the client's methods. */

import type { CallOptions, RollingOptions } from "../library/options.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";

/** A daemon on this machine. */
export interface SocketOptions {
  /** Its home; default `$PROCSUP_HOME`, else `~/.procsup`. */
  readonly home?: string;
}

/** A daemon with a web listener. */
export interface UrlOptions {
  /** Such as `http://127.0.0.1:9615`, or `https://example.com/procsup` behind a proxy. */
  readonly url: string;
  /** The output of `procsup token`. */
  readonly token: string;
}

/** Selects the daemon. */
export type ClientOptions = SocketOptions | UrlOptions;

/** How a configuration is changed. */
export interface ReconfigureOptions extends RollingOptions {
  /** Resets all other keys to their defaults, except the name and the number of instances. */
  readonly replace?: boolean;
  /** Restore the old configuration of all instances if one fails; default true. */
  readonly rollbackOnFailure?: boolean;
}

/** Keys of a configuration to change; null removes a key. */
export type ConfigChanges = {
  readonly [K in Exclude<keyof ProcessConfigInput, "name" | "instances">]?:
    | ProcessConfigInput[K]
    | null;
};

/** Selects a part of the metrics history. */
export interface MetricsQuery extends CallOptions {
  /** Start: `3h` ago, or an ISO 8601 time; default `1h`. */
  readonly since?: string;
  /** End; default: now. */
  readonly until?: string;
  /** Maximum number of points of each process, up to 10,000; default 120. */
  readonly points?: number;
}

/** Selects events. */
export interface EventQuery extends CallOptions {
  /** Only processes that match now; default: all processes, including future ones. */
  readonly target?: string;
}
