/**
 * Scans all processes of the machine for the run ids, or the marks, that they carry. A scan misses no process,
 * even in a chain where each forks the next and ends: every pid assigned meanwhile is read too,
 * until there are no new ones.
 */

import { sleep } from "../clock.ts";
import { isLinux } from "../os.ts";
import { runIdOf } from "./process_environment.ts";
import {
  isThread,
  lackCheck,
  type ProcessRow,
  processRow,
  processTable,
  procPids,
  readProc,
  rowOf,
  statOf,
  userOf,
} from "./process_table.ts";
import { markOn } from "../launch/run_mark.ts";

/** A process found by a scan. */
export interface Sighting {
  readonly pid: number;
  /** See `runIdOf()`. */
  readonly runId?: string | undefined;
  /** See `markOn()`; only of a process without a run id. */
  readonly mark?: number | undefined;
  readonly row: ProcessRow;
}

interface ScanOptions {
  /** The users whose environments and marks are read; all unless given. */
  readonly users?: ReadonlySet<number> | undefined;
  /** Of processes started before this they are not read; the unit is that of a row. */
  readonly since?: number | undefined;
  /** Called with each process at once: it may not be there much longer. */
  readonly seen?: (process: Sighting) => void;
}

/** How long and how often new processes, and those inside `exec`, are looked at again. */
const AGAIN_MS = 100;
const AGAIN_ROUNDS = 50;

/** All processes that can be seen. Throws if one could not be read for lack of descriptors. */
export async function scanProcesses(options: ScanOptions = {}): Promise<ProcessScan> {
  const found = new ProcessScan();
  if (!isLinux) {
    for (const row of processTable()) found.add({ pid: row.pid, row });
    return found;
  }
  const note = (process: Sighting | undefined) => {
    if (process === undefined) return;
    found.add(process);
    options.seen?.(process);
  };
  const check = lackCheck();
  const known = new Set<number>();
  let deadline = 0;
  let newest = newestPid();
  let pids: Iterable<number> = procPids();
  for (let round = 0;; round++) {
    const unread: number[] = [];
    let count = 0;
    for (const pid of pids) {
      // In pieces, since the daemon has other requests to serve.
      if (++count % 256 === 0) await sleep(0);
      known.add(pid);
      const process = read(pid, options);
      if (process === null) unread.push(pid);
      else note(process);
    }
    const last = newest;
    newest = newestPid();
    if (round === 0) deadline = performance.now() + AGAIN_MS;
    const isQuiet = newest === last && round > 0;
    const isEnough = round > AGAIN_ROUNDS && performance.now() > deadline;
    if (isQuiet && unread.length === 0 || isEnough) {
      // A process that stays inside exec still has its mark.
      for (const pid of unread) {
        const row = processRow(pid);
        note(row && { pid, mark: markOn(pid), row });
      }
      check();
      return found;
    }
    if (isQuiet) await sleep(1);
    // A pid is assigned a moment before the process is visible: the first list may lack some.
    const late = round === 0 ? [...procPids()] : [];
    pids = stillToRead(unread, [...late, ...given(last, newest)], known);
  }
}

/**
 * Pids of processes that were not read yet. It is lazy: a pid is looked at only after those before it
 * were read, when the process that forked it still existed.
 */
function* stillToRead(
  unread: readonly number[],
  others: readonly number[],
  known: ReadonlySet<number>,
): Generator<number> {
  yield* unread;
  for (const pid of others) if (!known.has(pid)) yield pid;
}

/** Pids of living processes by run id; those of hooks by the id of their process. */
export async function processesByRunId(): Promise<ReadonlyMap<string, readonly number[]>> {
  return (await scanProcesses()).byRunId;
}

/** The processes that a scan found, by run, group, session and parent. */
export class ProcessScan {
  readonly byRunId: Map<string, number[]> = new Map();
  readonly byMark: Map<number, number[]> = new Map();
  readonly rows: Map<number, ProcessRow> = new Map();
  readonly byGroup: Map<number, ProcessRow[]> = new Map();
  readonly bySession: Map<number, ProcessRow[]> = new Map();
  readonly byParent: Map<number, ProcessRow[]> = new Map();

  add({ pid, runId, mark, row }: Sighting): void {
    if (runId !== undefined) append(this.byRunId, runId, pid);
    if (mark !== undefined) append(this.byMark, mark, pid);
    this.rows.set(pid, row);
    append(this.byGroup, row.pgid, row);
    append(this.bySession, row.sid, row);
    append(this.byParent, row.ppid, row);
  }
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Reads a process; undefined for a thread or if it is gone, null if it has no environment yet. */
function read(pid: number, { users, since = 0 }: ScanOptions): Sighting | undefined | null {
  const stat = statOf(pid);
  if (stat === undefined || isThread(stat)) return undefined;
  const row = rowOf(pid, stat);
  const isWanted = Number(row.start) >= since && (users === undefined || users.has(userOf(pid)));
  const runId = isWanted ? runIdOf(pid, stat) : undefined;
  if (runId === null) return null;
  const mark = isWanted && runId === undefined ? markOn(pid) : undefined;
  return { pid, runId, mark, row };
}

/** The last pid given to a process or thread; constant if the system does not show it. */
function newestPid(): number {
  const last = readProc("/proc/sys/kernel/ns_last_pid") ?? readProc("/proc/loadavg")?.split(" ")[4];
  return Number(last ?? 0);
}

/** The pids after `from` up to `to`, in the order of assignment. */
function given(from: number, to: number): number[] {
  if (to >= from) return range(from, to);
  return [...range(from, Number(readProc("/proc/sys/kernel/pid_max"))), ...range(0, to)];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + 1 + index);
}
