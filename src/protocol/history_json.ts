/** What the clock, hooks and health checks did last, on the wire. Times are ISO 8601. */

/** One run of a job, or one restart by the clock. */
export interface CronRunJson {
  /** When it began. */
  readonly started_at: string;
  /** When it was over. */
  readonly finished_at: string;
  /** How it went. */
  readonly status: "ok" | "failed" | "timeout" | "skipped" | "killed";
  /** Null when it did not end by itself. */
  readonly exit_code: number | null;
  /** How many in a row, where runs were skipped. */
  readonly times?: number;
}

/** One run of a hook. */
export interface HookRunJson {
  /** When it began. */
  readonly at: string;
  /** `pre_start` … `post_healthcheck`. */
  readonly hook: string;
  /** Whether its exit code was 0. */
  readonly ok: boolean;
  /** Null when it did not end by itself, or could not be run. */
  readonly exit_code: number | null;
  /** Whether it was ended at its timeout. */
  readonly timed_out: boolean;
  /** Nanoseconds. */
  readonly duration: number;
  /** The end of what it printed, 2 KiB at most. */
  readonly output: string;
}

/** One health check. */
export interface HealthCheckJson {
  /** When it began. */
  readonly at: string;
  /** Whether it was well. */
  readonly ok: boolean;
  /** What was wrong; empty when it was well. */
  readonly message: string;
  /** Nanoseconds until the answer. */
  readonly latency: number;
}

/** Answer of `history`: the newest last, and nothing from before the daemon's start. */
export interface HistoryJson {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Runs of its hooks. */
  readonly hooks: readonly HookRunJson[];
  /** Its health checks. */
  readonly health: readonly HealthCheckJson[];
}
