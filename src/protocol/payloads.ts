/** What the verbs of the daemon take (spec 2.6). */

import type { WaitPoint } from "../model/wait_point.ts";

/** Payload of `start`: a new process's configuration in wire form, or the target to start again. */
export interface StartPayload {
  /** Start these existing processes; no other field but `wait` goes with it. */
  readonly target?: string;
  /** Answer only when the process has stayed up for its `min_uptime`, or failed. Default false. */
  readonly wait?: boolean;
  /** Every configuration key, `name` and `entrypoint` first. */
  readonly [key: string]: unknown;
}

/** Payload of `stop`. */
export interface StopPayload {
  readonly target: string;
  /** SIGKILL at once. */
  readonly force?: boolean;
  /** Grace before SIGKILL, instead of each process's own `stop_timeout`. */
  readonly timeout?: string | number;
  /** All at once (default), or one after the other. */
  readonly parallel?: boolean;
  /** False: no grace, as `force`. Default true. */
  readonly graceful?: boolean;
}

/** Payload of the verbs that take nothing but a target. A bare string is the same. */
export interface TargetPayload {
  readonly target: string;
  /** As in `StartPayload`. */
  readonly wait?: boolean;
}

/** Payload of `logs`. */
export interface LogsPayload {
  readonly target: string;
  /** How many of the last lines, 0 for all that fits; default 50. */
  readonly lines?: number;
  /** The standard error log instead of standard output. */
  readonly stderr?: boolean;
  /** Lines from then on: a time, or how long ago (`10m`). */
  readonly since?: string;
  /** Lines up to then. */
  readonly until?: string;
  /** Lines that match a regular expression. */
  readonly grep?: string;
  /** Lines that do not match it, instead. */
  readonly invert?: boolean;
  /** Each line begins with its time. */
  readonly timestamps?: boolean;
}

/** Payload of `signal`. */
export interface SignalPayload {
  readonly target: string;
  readonly signal: string | number;
}

/** Payload of `wait`: answers when each process has come to that point. */
export interface WaitPayload {
  readonly target: string;
  readonly for?: WaitPoint;
  /** Fails with `timeout` after this time; default: waits for ever. */
  readonly timeout?: string | number;
}

/** Payload of `rolling_reload` (spec 2.6). */
export interface RollingReloadPayload {
  readonly target: string;
  /** Instances at a time: a number, or a part such as `"25%"`; default 1. */
  readonly batch_size?: number | string;
  /** Go on only when the batch is ready; default true. */
  readonly wait_ready?: boolean;
  /** Put the old configuration back on all when one fails; default false. */
  readonly rollback_on_failure?: boolean;
  /** A merge patch (RFC 7396) of the configuration to change with it. */
  readonly config?: Record<string, unknown>;
}

/** Payload of `reconfigure`: what runs is replaced where the change asks for it, as by `rolling_reload`. */
export interface ReconfigurePayload extends Omit<RollingReloadPayload, "config"> {
  /** A merge patch (RFC 7396) in wire form: maps are merged, `null` takes a key away. */
  readonly config: Record<string, unknown>;
  /** Keys that are not named get their defaults, but for the name and the number of instances. */
  readonly replace?: boolean;
}

/** Payload of `scale`. */
export interface ScalePayload {
  /** Name in the configuration. */
  readonly target: string;
  /** `4`, `"+2"` or `"-1"`. */
  readonly instances: number | string;
}

/** Payload of the cron actions (spec 2.6). */
export interface CronPayload {
  /** A target: name, id, `all`, … */
  readonly name: string;
}

/** What the verbs on configuration files have in common. */
interface ConfigSource {
  /** Profile of the files. */
  readonly profile?: string;
  /** Values for `${…}`, before those of the daemon's own environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Only these processes and what they depend on: names, `ns:…`, `tag:…` or `label:…`. */
  readonly only?: string | readonly string[];
  /** Answer only when each has stayed up. Default false. */
  readonly wait?: boolean;
}

/** Payload of `start_all`. */
export interface StartAllPayload extends ConfigSource {
  /** Path of a file, several of them, or what a file would hold; default: the last one applied. */
  readonly config?: string | readonly string[] | object;
}

/** What a file would hold. Its name tells the format, its folder what paths are relative to. */
export interface ConfigContent {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** Payload of `config_reload`. */
export interface ConfigReloadPayload extends ConfigSource {
  /** Path of a file, or several; default: the last one applied. */
  readonly config_path?: string | readonly string[];
  /** A text to take as if it stood in that file, which need not be there; it is not reloaded later. */
  readonly content?: ConfigContent;
  /** Tell only what would be done. */
  readonly dry_run?: boolean;
  /** Remove processes that came from the same files and are not in them any more. */
  readonly prune?: boolean;
}
