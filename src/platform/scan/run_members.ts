/** The processes of a run, recognized among all processes of the machine. */

import type { Run } from "../../model/process_state.ts";
import { willLead } from "../launch/child_process.ts";
import type { ProcessScan, Sighting } from "./process_scan.ts";
import { type ProcessRow, processRow, userOf } from "./process_table.ts";
import { markOf } from "../launch/run_mark.ts";

/** Never terminated, even if an app started this supervisor. */
const NEVER: ReadonlySet<number> = new Set([1, Deno.pid]);

/**
 * The processes of one run, collected over several scans. Outside a control group they are
 * recognized by what they inherit: the run id in the environment, the mark, the group, the session. A
 * process can leave each of them, and its parent can end. So known members are remembered while the
 * run is being terminated.
 */
export class RunMembers {
  readonly #run: Run;
  readonly #mark: number | undefined;
  /** Start times by pid. */
  readonly #known = new Map<number, string>();
  readonly #groups = new Set<number>();
  readonly #sessions = new Set<number>();

  constructor(run: Run) {
    this.#run = run;
    this.#mark = markOf(run.runId);
    // For some runs only the intent is recorded.
    if (run.wrapperPid <= 0) return;
    this.#known.set(run.wrapperPid, run.wrapperStart);
    this.#groups.add(run.wrapperPid);
    this.#sessions.add(run.wrapperPid);
  }

  /** Living members. `others` are members found by other means. */
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
      if (this.#isNewWrapper(next)) continue;
      for (const child of scan.byParent.get(next.pid) ?? []) queue.push(child);
      open(next.pgid, this.#groups, scan.byGroup);
      open(next.sid, this.#sessions, scan.bySession);
    }
    return [...found];
  }

  /** Whether a process belongs to the run by its own run id, mark, group or session. */
  claims({ pid, runId, mark, row }: Sighting): boolean {
    if (row.zombie || NEVER.has(pid)) return false;
    return this.#hasRunId(pid, runId) || this.#isMarked(pid, mark) ||
      this.#groups.has(row.pgid) && this.#owns(row.pgid, processRow(row.pgid)) ||
      this.#sessions.has(row.sid) && this.#owns(row.sid, processRow(row.sid));
  }

  /** Whether it is the wrapper and still in the group and session of its supervisor. */
  #isNewWrapper(row: ProcessRow): boolean {
    const { wrapperPid } = this.#run;
    if (wrapperPid > 0) return row.pid === wrapperPid && row.pgid !== wrapperPid;
    return willLead(row);
  }

  *#roots(scan: ProcessScan): Generator<ProcessRow> {
    const { runId } = this.#run;
    for (const pid of scan.byRunId.get(runId) ?? []) {
      if (this.#hasRunId(pid, runId)) yield scan.rows.get(pid)!;
    }
    for (const pid of scan.byMark.get(this.#mark ?? 0) ?? []) {
      if (this.#isMarked(pid, this.#mark)) yield scan.rows.get(pid)!;
    }
    for (const [pid, start] of this.#known) {
      const row = scan.rows.get(pid);
      if (row?.start === start) yield row;
    }
  }

  /**
   * Whether a group or session has only members of the run: its leader is one, or gone. The kernel
   * does not reuse the number of one that has members. 0 is one from outside a container.
   */
  #owns(id: number, leader: ProcessRow | undefined): boolean {
    if (id <= 0 || leader === undefined) return id > 0;
    const known = this.#known.get(id);
    return known === undefined ? leader.zombie : known === leader.start;
  }

  /** Any user can put a run id into an environment: it counts only for the app's possible users. */
  #hasRunId(pid: number, runId: string | undefined): boolean {
    const { user } = this.#run;
    return runId === this.#run.runId && (user === undefined || [user, 0].includes(userOf(pid)));
  }

  /** Any user can read a mark as well: it counts for fewer users. */
  #isMarked(pid: number, mark: number | undefined): boolean {
    if (mark === undefined || mark !== this.#mark) return false;
    return [this.#run.user ?? Deno.uid(), 0].includes(userOf(pid));
  }
}

type RowsBy = ReadonlyMap<number, readonly ProcessRow[]>;
