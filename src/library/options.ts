/** Options and answers that `Manager` and `Client` share. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import type { LineFilter, LogStream } from "../model/log_line.ts";
import type { WaitPoint } from "../model/process_info.ts";

/** An abort ends the wait, but not what has begun. */
export interface CallOptions {
  /** An abort rejects the promise with its reason. If aborted before the call, nothing is done. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a start. */
export interface StartOptions extends CallOptions {
  /**
   * Resolve only when it is ready or, without a configured readiness, has run for its `minUptime`.
   * Default: resolve once it is spawned.
   */
  readonly wait?: boolean;
}

/** Options of a stop. */
export interface StopOptions extends CallOptions {
  /** Send SIGKILL at once. */
  readonly force?: boolean;
  /** Time until SIGKILL: `"5s"`, or nanoseconds; default: its `stopTimeout`. */
  readonly timeout?: DurationInput | undefined;
}

/** Options of a wait. */
export interface WaitOptions extends CallOptions {
  /**
   * `running`, `ready` (the default), `stopped`, or `exit`: stopped, crashed without a restart, or
   * errored. A wait for `running` or `ready` fails with `start_failed` if it does not start again by
   * itself.
   */
  readonly for?: WaitPoint;
  /** Fail with `timeout` after this time: `"30s"`, or nanoseconds; default: no limit. */
  readonly timeout?: DurationInput | undefined;
}

/** Options of a rolling reload. */
export interface RollingOptions extends CallOptions {
  /** Instances per batch: a number, or a share such as `"25%"`; default 1. */
  readonly batchSize?: number | string;
  /** Wait until a batch is ready before the next one; default true. */
  readonly waitReady?: boolean;
  /** Restore all old instances if one fails; default false. */
  readonly rollbackOnFailure?: boolean;
}

/** Options of a save. */
export interface SaveOptions extends CallOptions {
  /** Save an empty list, too; default: refuse to replace a saved list with an empty one. */
  readonly allowEmpty?: boolean;
}

/** Selects lines of logs. */
export interface LineOptions extends LineFilter {
  /**
   * Number of last lines of each process to begin with; 0, the default, means all. With `follow` and
   * a filter, all are at most the last 10,000. A client takes numbers up to 10,000.
   */
  readonly tail?: number;
  /** Continue with new lines. Cannot be combined with `until`. */
  readonly follow?: boolean;
  /** With `follow`: skip existing lines. */
  readonly newOnly?: boolean;
  /** Only this stream; default: both. */
  readonly stream?: LogStream;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** One line that a process wrote. */
export interface OutputLine {
  /** Name of the process. */
  readonly name: string;
  /** Standard output or standard error. */
  readonly stream: LogStream;
  /** The line without its line break. */
  readonly line: string;
  /** Time of writing, as exact as in the log. */
  readonly at: Date;
  /** A piece of a line over 64 KiB, which the next one of this log continues. */
  readonly partial?: true;
}

/** A job: a process that runs once to its end. */
export type JobInput = Omit<ProcessConfigInput, "name" | "cron" | "cronRestart" | "instances"> & {
  /** Unique name; default: the program's name with a number. */
  readonly name?: string;
};

/** Options of a job's run. */
export interface RunOptions extends CallOptions {
  /** After this time the job is stopped and `run()` fails with `timeout`; default: no limit. */
  readonly timeout?: DurationInput | undefined;
}

/** The result of a job. */
export interface JobResult {
  /** Exit code; 128 + the signal's number if a signal ended it, null if unknown. */
  readonly code: number | null;
  /** Its standard output, without the last newline. */
  readonly stdout: string;
  /** Its standard error, without the last newline. */
  readonly stderr: string;
}

/** Processes that should exist, by name. */
export interface ConfigSet<N extends string = string> {
  /** Default keys of every process; maps such as `env` are merged. */
  readonly defaults?: Partial<Omit<ProcessConfigInput, "name">>;
  /** Keys of each process, without the name. */
  readonly processes: Readonly<Record<N, Omit<ProcessConfigInput, "name">>>;
}

/** The result of restoring saved processes. */
export interface Resurrected {
  /** Number of restored processes. */
  readonly count: number;
  /** Problems: unreadable files, failed starts. */
  readonly errors: readonly string[];
}
