/**
 * Moves running apps into their control groups, off the path of their start: to join one may take
 * 20 ms. What an app forks and hides before it is moved is known by its environment and its process
 * group alone; all that it forks later is in its control group, whatever it does.
 */

import type { Run } from "../model/process_state.ts";
import type { Cgroups } from "./cgroup.ts";
import { type ProcessRow, processRow, processTable } from "./process_table.ts";

/** Children that were forked before their parent was moved are looked for after that time. */
const CHILDREN_AFTER_MS = 250;

/** And again while more of them are found, so often. */
const ROUNDS = 3;

/** Moves apps into their groups. */
export class Gatherer {
  readonly #groups: Cgroups;
  readonly #pending = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #pass: Promise<readonly ProcessRow[]> | undefined;

  constructor(groups: Cgroups) {
    this.#groups = groups;
  }

  /** Moves an app and what it has forked so far. */
  gather(run: Run, pid: number): void {
    const work: Promise<void> = this.#gather(run, pid)
      // An app that could not be moved is still known by its environment.
      .catch(() => {})
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  /** Moves nobody any longer; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#pending);
  }

  async #gather(run: Run, pid: number): Promise<void> {
    // The wrapper's child is the app: only the wrapper can collect it and free its pid.
    const isOurs = () => processRow(pid)?.ppid === run.wrapperPid;
    this.#groups.locate(run.runId, pid);
    if (!isOurs() || this.#groups.create(run.runId) === undefined) return;
    await this.#groups.move(run.runId, pid);
    for (let round = 0; round < ROUNDS; round++) {
      const table = await this.#table();
      if (this.#closing.signal.aborted || !isOurs()) return;
      const inside = new Set(this.#groups.members(run.runId));
      const outside = descendants(pid, table).filter((one) => !inside.has(one));
      if (outside.length === 0) return this.#groups.complete(run.runId);
      for (const one of outside) await this.#groups.move(run.runId, one);
    }
  }

  /** All processes, a moment from now. One look serves all who wait for it. */
  #table(): Promise<readonly ProcessRow[]> {
    const { signal } = this.#closing;
    return this.#pass ??= pause(CHILDREN_AFTER_MS, signal).then(() => {
      this.#pass = undefined;
      return signal.aborted ? [] : processTable();
    });
  }
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
    if (signal.aborted) over();
  });
}

/** Pids below a process. */
function descendants(pid: number, table: readonly ProcessRow[]): number[] {
  const found = new Set([pid]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const row of table) if (found.has(row.ppid)) found.add(row.pid);
  }
  found.delete(pid);
  return [...found];
}
