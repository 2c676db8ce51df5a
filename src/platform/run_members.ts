/**
 * Which processes belong to a run. Where no control group knows it, what a process has from its parent
 * does: the run id in its environment, its group, its session. It can leave each of them, and its
 * parent can end: whatever belonged to the run once is remembered while the run is ended.
 */

import type { Run } from "../model/process_state.ts";
import type { ProcessScan, Sighting } from "./process_scan.ts";
import { type ProcessRow, processRow, userOf } from "./process_table.ts";

/** A supervisor that an app has started is not ended by itself. */
const NEVER: ReadonlySet<number> = new Set([1, Deno.pid]);

/** The processes of one run, as one scan after the other finds them. */
export class RunMembers {
  readonly #run: Run;
  /** Start times by pid. */
  readonly #known = new Map<number, string>();
  readonly #groups = new Set<number>();
  readonly #sessions = new Set<number>();

  constructor(run: Run) {
    this.#run = run;
    // Of some runs only the intent is known.
    if (run.wrapperPid <= 0) return;
    this.#known.set(run.wrapperPid, run.wrapperStart);
    this.#groups.add(run.wrapperPid);
    this.#sessions.add(run.wrapperPid);
  }

  /** Living members; `others` are known by other means than the scan. */
  find(scan: ProcessScan, others: readonly ProcessRow[] = []): readonly number[] {
    const found = new Set<number>();
    const queue = [...this.#roots(scan), ...others];
    const opened = new Set<unknown>();
    const open = (id: number, ids: Set<number>, lists: RowsBy): void => {
      const list = lists.get(id);
      if (list === undefined || opened.has(list) || !this.#owns(id, scan.rows.get(id))) return;
      opened.add(list);
      ids.add(id);
      for (const row of list) queue.push(row);
    };
    for (const id of [...this.#groups]) open(id, this.#groups, scan.byGroup);
    for (const id of [...this.#sessions]) open(id, this.#sessions, scan.bySession);
    for (let next; (next = queue.pop()) !== undefined;) {
      if (next.zombie || found.has(next.pid) || NEVER.has(next.pid)) continue;
      found.add(next.pid);
      this.#known.set(next.pid, next.start);
      for (const child of scan.byParent.get(next.pid) ?? []) queue.push(child);
      open(next.pgid, this.#groups, scan.byGroup);
      open(next.sid, this.#sessions, scan.bySession);
    }
    return [...found];
  }

  /** Whether a process belongs to the run by what it has itself. */
  claims({ pid, runId, row }: Sighting): boolean {
    if (row.zombie || NEVER.has(pid)) return false;
    return this.#isMarked(pid, runId) ||
      this.#groups.has(row.pgid) && this.#owns(row.pgid, processRow(row.pgid)) ||
      this.#sessions.has(row.sid) && this.#owns(row.sid, processRow(row.sid));
  }

  *#roots(scan: ProcessScan): Generator<ProcessRow> {
    const { runId } = this.#run;
    for (const pid of scan.byRunId.get(runId) ?? []) {
      if (this.#isMarked(pid, runId)) yield scan.rows.get(pid)!;
    }
    for (const [pid, start] of this.#known) {
      const row = scan.rows.get(pid);
      if (row?.start === start) yield row;
    }
  }

  /**
   * Whether a group or session holds none but members: its leader is one, or gone. The kernel gives the
   * number of a group or session that has a member to no new process. 0 is one from outside a container.
   */
  #owns(id: number, leader: ProcessRow | undefined): boolean {
    if (id <= 0 || leader === undefined) return id > 0;
    const known = this.#known.get(id);
    return known === undefined ? leader.zombie : known === leader.start;
  }

  /** Any user can put a run id into an environment: it counts for users that the app can be. */
  #isMarked(pid: number, runId: string | undefined): boolean {
    const { user } = this.#run;
    return runId === this.#run.runId && (user === undefined || [user, 0].includes(userOf(pid)));
  }
}

type RowsBy = ReadonlyMap<number, readonly ProcessRow[]>;
