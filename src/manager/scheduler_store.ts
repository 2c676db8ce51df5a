/** What of a schedule outlives the daemon: one small file a process, below `state/cron`. */

import { messageOf } from "../model/errors.ts";
import { readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";

/** How a run went: `killed` by a stop or by the next run, `skipped` since the one before still ran. */
export type RunStatus = "ok" | "failed" | "timeout" | "skipped" | "killed";

/** One run of a job, or one restart by the clock. */
export interface CronRun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly status: RunStatus;
  /** Null where there is none, or it is not known. */
  readonly exitCode: number | null;
  /** How many in a row, where runs were skipped. */
  readonly times?: number;
}

/** Runs that are remembered. */
export const HISTORY = 20;

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

/** The memories of a home. */
export class CronStore {
  readonly #folder: string;
  readonly #warn: (message: string) => void;

  constructor(folder: string, warn: (message: string) => void) {
    this.#folder = folder;
    this.#warn = warn;
  }

  /** The memory of a process; an unreadable one is set aside. */
  read(id: string): CronMemory {
    const path = this.#path(id);
    try {
      const text = readFileIfAny(path);
      if (text === undefined) return NOTHING;
      const { version, ...memory } = JSON.parse(text);
      if (version !== 1 || !Array.isArray(memory.history)) throw new Error("it is none of ours");
      return { ...NOTHING, ...memory };
    } catch (error) {
      Deno.renameSync(path, `${path}.unreadable`);
      this.#warn(`Set aside unreadable schedule state "${path}": ${messageOf(error)}`);
      return NOTHING;
    }
  }

  /** Remembers; a disk that takes nothing costs the memory, not the schedule. */
  write(id: string, memory: CronMemory): void {
    try {
      Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      replaceFile(this.#path(id), JSON.stringify({ version: 1, ...memory }));
    } catch (error) {
      this.#warn(`Cannot remember the schedule of ${id}: ${messageOf(error)}`);
    }
  }

  /** Forgets a process. */
  remove(id: string): void {
    removeFile(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#folder}/${id}.json`;
  }
}

/** The history with one more run; runs skipped in a row are one entry. */
export function withRun(history: readonly CronRun[], run: CronRun): readonly CronRun[] {
  const last = history.at(-1);
  if (run.status === "skipped" && last?.status === "skipped") {
    return [...history.slice(0, -1), { ...last, times: (last.times ?? 1) + 1 }];
  }
  return [...history, run].slice(-HISTORY);
}
