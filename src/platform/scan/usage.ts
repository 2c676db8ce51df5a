/** Resource usage of process trees, read in one pass for all of them; their memory limits. */

import type { Usage } from "../../model/process_info.ts";
import type { Run } from "../../model/process_state.ts";
import type { Cancel, Clock } from "../clock.ts";
import { descriptorsOf, type ProcessRow, processTableIfReadable } from "./process_table.ts";

/** CPU time of a tree at one reading, to compare with the next. */
export interface CpuMark {
  readonly cpuMs: number;
  /** Sum of all increases of `cpuMs`, which drops when a process of the tree ends. It only grows. */
  readonly totalMs: number;
  /** Steady milliseconds. */
  readonly at: number;
}

/** A tree's usage, and the mark for its next reading. */
export interface TreeUsage {
  readonly usage: Usage;
  readonly mark: CpuMark;
}

let totalMemory: number | undefined;

/** Usage of the trees below `roots`, each since its mark. `now` is in steady milliseconds. */
export function readUsage(
  roots: ReadonlyMap<number, CpuMark>,
  now: number,
): Map<number, TreeUsage> {
  const byRoot = treesOf(roots, processTableIfReadable());
  totalMemory ??= Deno.systemMemoryInfo().total;
  const result = new Map<number, TreeUsage>();
  for (const [root, rows] of byRoot) {
    const cpuMs = sum(rows, (row) => row.cpuMs);
    const before = roots.get(root)!;
    const elapsed = Math.max(1, now - before.at);
    const usedMs = Math.max(0, cpuMs - before.cpuMs);
    const memBytes = sum(rows, (row) => row.rssBytes);
    result.set(root, {
      mark: { cpuMs, totalMs: before.totalMs + usedMs, at: now },
      usage: {
        cpuPercent: round(usedMs / elapsed * 100),
        memBytes,
        memPercent: round(memBytes / totalMemory * 100),
        threads: sum(rows, (row) => row.threads),
        fds: sum(rows, (row) => descriptorsOf(row.pid).length),
      },
    });
  }
  return result;
}

/** Memory of the trees below `roots`, in bytes. */
export function memoryOfTrees(roots: readonly number[]): Map<number, number> {
  const trees = treesOf(new Set(roots), processTableIfReadable());
  return new Map([...trees].map(([root, rows]) => [root, sum(rows, (row) => row.rssBytes)]));
}

/** Pids of group leaders. */
type Roots = Pick<ReadonlySet<number>, "has">;

/** The processes of each tree except its root: those of its group, and descendants that left it. */
export function treesOf(
  roots: Roots,
  table: readonly ProcessRow[],
): Map<number, ProcessRow[]> {
  const rows = new Map(table.map((row) => [row.pid, row]));
  const trees = new Map<number, ProcessRow[]>();
  for (const row of table) {
    const root = rootOf(row, rows, roots);
    // The wrapper itself is ours, not the app's.
    if (root === undefined || root === row.pid) continue;
    const tree = trees.get(root);
    if (tree === undefined) trees.set(root, [row]);
    else tree.push(row);
  }
  return trees;
}

function rootOf(
  row: ProcessRow,
  rows: ReadonlyMap<number, ProcessRow>,
  roots: Roots,
): number | undefined {
  for (
    let at: ProcessRow | undefined = row;
    at !== undefined && at.pid > 1;
    at = rows.get(at.ppid)
  ) {
    if (roots.has(at.pgid)) return at.pgid;
  }
  return undefined;
}

function sum(rows: readonly ProcessRow[], value: (row: ProcessRow) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Interval of the checks of memory. */
const INTERVAL_MS = 5000;

/** A tree and its limit. */
interface Limit {
  readonly run: Run;
  readonly bytes: number;
  readonly exceeded: (bytes: number) => void;
}

/** Watches the memory of limited runs: one check serves all. */
export class MemoryGuard {
  readonly #clock: Clock;
  readonly #limits = new Set<Limit>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `exceeded` at each check that finds the run's tree above the limit, until cancelled. */
  limit(run: Run, bytes: number, exceeded: Limit["exceeded"]): Cancel {
    const limit = { run, bytes, exceeded };
    this.#limits.add(limit);
    this.#cancel ??= this.#arm();
    return () => {
      this.#limits.delete(limit);
      if (this.#limits.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #arm(): Cancel {
    return this.#clock.after(INTERVAL_MS, () => {
      this.#cancel = this.#arm();
      const used = memoryOfTrees([...this.#limits].map(({ run }) => run.wrapperPid));
      for (const { run, bytes, exceeded } of [...this.#limits]) {
        const memory = used.get(run.wrapperPid) ?? 0;
        if (memory > bytes) exceeded(memory);
      }
    });
  }
}
