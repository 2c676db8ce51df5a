/**
 * Moves running apps into their control groups without delaying their start: joining a group may
 * take 20 ms. What an app forks and hides before it is moved is recognized by its environment and
 * its process group only; what it forks later is always in its control group.
 */

import type { Run } from "../model/process_state.ts";
import type { Cgroups } from "./cgroup.ts";
import { childrenOf, processRow } from "./process_table.ts";

/** Maximum number of looks for processes that were forked before their parent was moved. */
const ROUNDS = 8;

/** Looks in a row that must find nothing: one may miss a child while another child ends. */
const QUIET_ROUNDS = 2;

/** Moves apps into their groups. */
export class Gatherer {
  readonly #groups: Cgroups;
  readonly #pending = new Set<Promise<void>>();
  #closed = false;

  constructor(groups: Cgroups) {
    this.#groups = groups;
  }

  /** Moves an app and its descendants. An adopted app may have a group elsewhere. */
  gather(run: Run, pid: number, isAdopted: boolean): void {
    const work: Promise<void> = this.#gather(run, pid, isAdopted)
      // An app that could not be moved is still known by its environment.
      .catch(() => {})
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  /** Stops moving processes; resolves when the current moves are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#pending);
  }

  async #gather(run: Run, pid: number, isAdopted: boolean): Promise<void> {
    // The wrapper's child is the app: only the wrapper can collect it and free its pid.
    const isOurs = () => processRow(pid)?.ppid === run.wrapperPid;
    if (isAdopted) this.#groups.locate(run.runId, pid);
    if (!isOurs() || !await this.#groups.createAside(run.runId)) return;
    // The pid may have been reused meanwhile.
    if (!isOurs()) return this.#groups.removeEmpty(run.runId);
    let outside: readonly number[] = [pid];
    for (let round = 0, quiet = 0; round < ROUNDS; round++) {
      for (const one of outside) await this.#groups.move(run.runId, one);
      if (!isOurs()) return this.#groups.removeEmpty(run.runId);
      if (this.#closed) return;
      const tree = treeOf(pid);
      outside = outsideOf(this.#groups.ownMembers(run.runId), tree);
      if (outside.length > 0) outside = outsideOf(this.#groups.members(run.runId), tree);
      quiet = outside.length === 0 ? quiet + 1 : 0;
      if (quiet === QUIET_ROUNDS) return this.#groups.complete(run.runId);
    }
  }
}

function outsideOf(inside: readonly number[], tree: readonly number[]): readonly number[] {
  return tree.filter((pid) => !inside.includes(pid));
}

/** Pids of a process and its descendants. */
function treeOf(pid: number): readonly number[] {
  const found = [pid];
  for (const one of found) found.push(...childrenOf(one));
  return found;
}
