/** Options and answers that `Manager` and `Client` have in common. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import type { LineFilter, LogStream } from "../model/log_line.ts";
import type { WaitPoint } from "../model/wait_point.ts";

/** Ends the waiting, not what has begun. */
export interface CallOptions {
  /** Aborted, the promise is rejected with its reason; aborted before, nothing is done. */
  readonly signal?: AbortSignal;
}

/** What a start waits for. */
export interface StartOptions extends CallOptions {
  /**
   * Resolve only when it is ready or, where no readiness is configured, has stayed up for its
   * `minUptime`; default: at the spawn.
   */
  readonly wait?: boolean;
}

/** How a process is stopped. */
export interface StopOptions extends CallOptions {
  /** SIGKILL at once. */
  readonly force?: boolean;
  /** Grace before SIGKILL: `"5s"`, or nanoseconds; default: its `stopTimeout`. */
  readonly timeout?: DurationInput;
}

/** What is waited for. */
export interface WaitOptions extends CallOptions {
  /**
   * `running`, `ready` (the default), `stopped`, or `exit`: at rest for good, whether stopped, crashed
   * or given up.
   */
  readonly for?: WaitPoint;
  /** Fails with `timeout` after that: `"30s"`, or nanoseconds; default: waits for ever. */
  readonly timeout?: DurationInput;
}

/** How a rolling reload goes on. */
export interface RollingOptions extends CallOptions {
  /** Instances at a time: a number, or a part such as `"25%"`; default 1. */
  readonly batchSize?: number | string;
  /** Go on only when the batch is ready; default true. */
  readonly waitReady?: boolean;
  /** Put the old ones back on all when one fails; default false. */
  readonly rollbackOnFailure?: boolean;
}

/** How the list of processes is saved. */
export interface SaveOptions extends CallOptions {
  /** Save even when there is nothing to save; default: refuse when something was saved before. */
  readonly allowEmpty?: boolean;
}

/** Which lines of logs. */
export interface LineOptions extends LineFilter {
  /** How many of the last lines of each process to begin with; 0, the default, means all. */
  readonly tail?: number;
  /** Go on with what is written from now on; goes with no `until`. */
  readonly follow?: boolean;
  /** With `follow`: leave out the lines that are there already. */
  readonly newOnly?: boolean;
  /** One of both logs instead of both. */
  readonly stream?: LogStream;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
}

/** One line that a process wrote. */
export interface OutputLine {
  /** Of the process. */
  readonly name: string;
  /** Where it was written. */
  readonly stream: LogStream;
  /** Without its end. */
  readonly line: string;
  /** When it was written, as exactly as the log tells. */
  readonly at: Date;
}

/** A job: a process that does its work and ends. */
export type JobInput = Omit<ProcessConfigInput, "name" | "cron" | "cronRestart" | "instances"> & {
  /** Unique name; default: the program's, with a number. */
  readonly name?: string;
};

/** How a job is run. */
export interface RunOptions extends CallOptions {
  /** The job is stopped after that, and `run()` fails with `timeout`; default: no limit. */
  readonly timeout?: DurationInput;
}

/** What came of a job. */
export interface JobResult {
  /** Exit code; 128 + the signal's number when a signal ended it, null when it is not known. */
  readonly code: number | null;
  /** What it wrote to standard output, without the last newline. */
  readonly stdout: string;
  /** The same of standard error. */
  readonly stderr: string;
}

/** Processes that should exist, by name. */
export interface ConfigSet<N extends string = string> {
  /** Keys of every process that does not set them itself; maps such as `env` are merged. */
  readonly defaults?: Partial<Omit<ProcessConfigInput, "name">>;
  /** Keys of each process but for its name. */
  readonly processes: Readonly<Record<N, Omit<ProcessConfigInput, "name">>>;
}

/** What came of bringing saved processes back. */
export interface Resurrected {
  /** Processes that were brought back. */
  readonly count: number;
  /** What went wrong: unreadable files, starts that failed. */
  readonly errors: readonly string[];
}
