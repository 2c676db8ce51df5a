/** The pids of apps whose wrappers have just started them. */

import type { Run } from "../../model/process_state.ts";
import { wrapperAlive } from "../scan/process_group.ts";
import { type ProcessRow, processTableIfReadable } from "../scan/process_table.ts";
import type { RunFiles } from "./run_files.ts";

/** The app is the last child of its wrapper: what carries its pipes was started before it. */
export function appBelow(run: Run, table: readonly ProcessRow[]): ProcessRow | undefined {
  return table.findLast(({ ppid }) => ppid === run.wrapperPid);
}

/** Delay until a pid that the wrapper could not record is looked up in the process table. */
const LOOK_AFTER_MS = 500;

/** Waits for the pids of apps: the wrapper records them, or they are found in the process table. */
export class AppPids {
  readonly #files: RunFiles;
  /** The callback that gets the pid of a run, and since when it waits. */
  readonly #unknown = new Map<Run, { known(pid: number): void; readonly since: number }>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(files: RunFiles) {
    this.#files = files;
  }

  /** Resolves with the pid of a run's app. Never resolves if the app ended before it had one. */
  of(run: Run): Promise<number> {
    return new Promise((resolve) => {
      const known = (pid: number) => {
        this.#drop(run);
        resolve(pid);
      };
      this.#unknown.set(run, { known, since: performance.now() });
      this.#timer ??= setInterval(() => this.#look(), LOOK_AFTER_MS);
      this.#files.when(run.runId, "pid", known);
    });
  }

  close(): void {
    for (const run of [...this.#unknown.keys()]) this.#drop(run);
  }

  #look(): void {
    const before = performance.now() - LOOK_AFTER_MS;
    const late = [...this.#unknown].filter(([, { since }]) => since <= before);
    // Only for late ones: while many apps are launched, some pid is always unknown.
    const table = late.length === 0 ? [] : processTableIfReadable();
    for (const [run, { known }] of late) {
      if (!wrapperAlive(run)) {
        this.#drop(run);
        continue;
      }
      const row = appBelow(run, table);
      if (row !== undefined) known(row.pid);
    }
  }

  #drop(run: Run): void {
    this.#unknown.delete(run);
    if (this.#unknown.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
