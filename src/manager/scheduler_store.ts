/** What of a schedule outlives the daemon: one small file a process, below `state/cron`. */

import { readState, removeState, writeState } from "../platform/state_file.ts";
import type { RetriedWrites } from "./retried_writes.ts";

/** How a run went: `killed` by a stop or by the next run, `skipped` since the one before still ran. */
export type RunStatus = "ok" | "failed" | "timeout" | "skipped" | "killed";

/** One run of a job, or one restart by the clock. */
export interface CronRun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly status: RunStatus;
  /** Null if there was none, or it is unknown. */
  readonly exitCode: number | null;
  /** How many in a row, where runs were skipped. */
  readonly times?: number;
}

/** Runs that are remembered. */
const HISTORY = 20;

/** The memory of one schedule. */
export interface CronMemory {
  /** What `cron_start` and `cron_stop` said; null: what the configuration says. */
  readonly enabled: boolean | null;
  /** Moments up to here are dealt with, in milliseconds since the epoch. */
  readonly covered: number;
  /** When the run that is under way began; null: none is. */
  readonly runningSince: number | null;
  /** It is to be followed by another one. */
  readonly again: boolean;
  /** The newest last. */
  readonly history: readonly CronRun[];
}

const NOTHING: CronMemory = {
  enabled: null,
  covered: 0,
  runningSince: null,
  again: false,
  history: [],
};

/** Where the memories are kept. */
export interface CronStoreOptions {
  readonly folder: string;
  readonly writes: RetriedWrites;
  readonly warn: (message: string) => void;
}

/** The memories of a home. */
export class CronStore {
  readonly #options: CronStoreOptions;

  constructor(options: CronStoreOptions) {
    this.#options = options;
  }

  /** The memory of a process. */
  read(id: string): CronMemory {
    const { value, problems } = readState(this.#path(id), (value) => {
      const { version, ...memory } = value as { version: number } & CronMemory;
      if (version !== 1) throw new Error(`unknown version ${JSON.stringify(version)}`);
      return { ...NOTHING, ...memory };
    });
    for (const problem of problems) this.#options.warn(problem);
    return value ?? NOTHING;
  }

  /** Remembers; a disk that takes nothing costs nothing while this program runs. */
  write(id: string, memory: CronMemory): void {
    const { folder, writes } = this.#options;
    writes.attempt(memoryOf(id), () => {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeState(this.#path(id), { version: 1, ...memory });
    });
  }

  /** Forgets a process. */
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
