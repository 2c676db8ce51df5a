/**
 * Keeps the state of schedules for the next daemon: one small file per process in `state/cron`, and
 * one for a request to several of them.
 */

import { ifPossible } from "../model/errors.ts";
import { readState, removeState, writeState } from "../platform/files/state_file.ts";
import type { RetriedWrites } from "../platform/files/retried_writes.ts";

/** Result of a run: `killed` by a stop or by the next run, `skipped` as the last one still ran. */
export type RunStatus = "ok" | "failed" | "timeout" | "skipped" | "killed";

/** One run of a job, or one restart by the clock. */
export interface CronRun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly status: RunStatus;
  /** Null if none, or unknown. */
  readonly exitCode: number | null;
  /** Number of runs skipped in a row. */
  readonly times?: number;
}

/** Number of runs to keep. */
const HISTORY = 20;

/** The saved state of one schedule. */
export interface CronMemory {
  /** Set by `cron_start` and `cron_stop`; null: the configuration decides. */
  readonly enabled: boolean | null;
  /** Due times up to this one are handled, in milliseconds since the epoch. */
  readonly covered: number;
  /** The due time since which a run is missing, in milliseconds since the epoch; null if none is. */
  readonly overdueSince: number | null;
  /** Start of the current run, in milliseconds since the epoch; null if none. */
  readonly runningSince: number | null;
  /** Whether the current run is being stopped because of its time limit. */
  readonly timedOut: boolean;
  /** Whether another run is queued. */
  readonly again: boolean;
  /** Number of the last attempt before the run that is to begin now; null if none is. */
  readonly starting: number | null;
  /** The newest last. */
  readonly history: readonly CronRun[];
}

const NOTHING: CronMemory = {
  enabled: null,
  covered: 0,
  overdueSince: null,
  runningSince: null,
  timedOut: false,
  again: false,
  starting: null,
  history: [],
};

/** Enables or disables several schedules. */
interface CronRequest {
  readonly ids: readonly string[];
  readonly enabled: boolean;
}

interface CronStoreOptions {
  readonly folder: string;
  readonly writes: RetriedWrites;
  readonly warn: (message: string) => void;
}

/** The saved states of the schedules of a home. */
export class CronStore {
  readonly #options: CronStoreOptions;

  constructor(options: CronStoreOptions) {
    this.#options = options;
  }

  /** Reads the state of a process's schedule. */
  read(id: string): CronMemory {
    const { value, problems } = readState(this.#path(id), (value) => {
      const { version, ...memory } = value as { version: number } & CronMemory;
      if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
      return { ...NOTHING, ...memory };
    });
    for (const problem of problems) this.#options.warn(problem);
    return value ?? NOTHING;
  }

  /** Writes the state. If the disk is full, tries again later. */
  write(id: string, memory: CronMemory): void {
    const { folder, writes } = this.#options;
    writes.attempt(memoryOf(id), () => {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeState(this.#path(id), { version: 1, ...memory });
    });
  }

  /**
   * Carries out a request that is on record before it begins with the first schedule: if this daemon
   * is killed meanwhile, the next one finds it. A full disk does not prevent it.
   */
  carryOut(request: CronRequest, act: () => void): void {
    ifPossible(() => {
      Deno.mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
      writeState(this.#requested, request);
    });
    act();
    this.#options.writes.attempt("the request to the schedules", () => {
      removeState(this.#requested);
    });
  }

  /** The request that a killed daemon left. */
  left(): CronRequest | undefined {
    const { value, problems } = readState(this.#requested, (value) => value as CronRequest);
    for (const problem of problems) this.#options.warn(problem);
    return value;
  }

  get #requested(): string {
    return this.#path("request");
  }

  /** Removes the state of a process. */
  remove(id: string): void {
    this.#options.writes.drop(memoryOf(id));
    removeState(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#options.folder}/${id}.json`;
  }
}

function memoryOf(id: string): string {
  return `the schedule state of "${id}"`;
}

/** The history with one more run; runs skipped in a row are one entry. */
export function withRun(history: readonly CronRun[], run: CronRun): readonly CronRun[] {
  const last = history.at(-1);
  if (run.status === "skipped" && last?.status === "skipped") {
    return [...history.slice(0, -1), { ...last, times: (last.times ?? 1) + 1 }];
  }
  return [...history, run].slice(-HISTORY);
}
