/** All processes of the machine, read in one pass. */

import { sleep } from "./clock.ts";
import { isLinux } from "./os.ts";

/** A process as the kernel describes it. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Ended, and not yet collected by its parent. */
  readonly zombie: boolean;
  /** Start time in the kernel's own unit: with the pid it names a process for the whole boot. */
  readonly start: string;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly threads: number;
}

const CLOCK_TICK_MS = 10;
const PAGE_BYTES = 4096;

const buffer = new Uint8Array(4096);
const decoder = new TextDecoder();

/** A small file of /proc as text, or undefined when the process is gone or not ours to read. */
export function readProc(path: string): string | undefined {
  try {
    using file = Deno.openSync(path);
    const length = file.readSync(buffer) ?? 0;
    return decoder.decode(buffer.subarray(0, length));
  } catch {
    return undefined;
  }
}

/** One process, or undefined when there is none of that pid. */
export function processRow(pid: number): ProcessRow | undefined {
  if (!isLinux) return psRows(["-p", String(pid)])[0];
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(stat);
}

/** Every process that can be seen. */
export function processTable(): ProcessRow[] {
  if (!isLinux) return psRows(["-A"]);
  const rows: ProcessRow[] = [];
  for (const pid of procPids()) {
    const stat = readProc(`/proc/${pid}/stat`);
    if (stat !== undefined) rows.push(parseStat(stat));
  }
  return rows;
}

let recent: { readonly rows: ProcessRow[]; readonly until: number } | undefined;

/**
 * The process table as it was a few milliseconds ago: several look at it in one breath when many
 * processes end. On a full machine a table takes longer to read, and serves for longer.
 */
export function recentProcessTable(): readonly ProcessRow[] {
  const at = performance.now();
  if (recent === undefined || at > recent.until) {
    const rows = processTable();
    const took = performance.now() - at;
    recent = { rows, until: performance.now() + Math.max(5, 2 * took) };
  }
  return recent.rows;
}

/** Number of open file descriptors; 0 where it cannot be read. */
export function openDescriptors(pid: number): number {
  if (!isLinux) return 0;
  try {
    let count = 0;
    for (const _ of Deno.readDirSync(`/proc/${pid}/fd`)) count++;
    return count;
  } catch {
    return 0;
  }
}

/** How long a process may take to show its environment after it began another program. */
const EXEC_MS = 100;

/**
 * Pids of living processes whose environment holds `PROCSUP_ID`, by what is in it: a run id or, for a
 * hook, the id of its process.
 */
export async function processesByRunId(): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const deadline = performance.now() + EXEC_MS;
  let unread: Iterable<number> = isLinux ? procPids() : [];
  for (;;) {
    const between = await sortByRunId(unread, found);
    if (between.length === 0 || performance.now() > deadline) return found;
    await sleep(1);
    unread = between;
  }
}

/** Adds processes to those of their run; returns those that have no environment to read yet. */
async function sortByRunId(
  pids: Iterable<number>,
  found: Map<string, number[]>,
): Promise<readonly number[]> {
  const between: number[] = [];
  let read = 0;
  for (const pid of pids) {
    // Not all in one go: the daemon has others to serve.
    if (++read % 256 === 0) await sleep(0);
    const environment = environmentOf(pid);
    if (environment === undefined) continue;
    const runId = variableIn(environment, RUN_ID);
    if (runId === undefined) {
      if (environment.at(-1) !== 0 && isBetweenPrograms(pid, environment)) between.push(pid);
      continue;
    }
    const known = found.get(runId);
    if (known === undefined) found.set(runId, [pid]);
    else known.push(pid);
  }
  return between;
}

const RUN_ID = /(?:^|\0)PROCSUP_ID=([^\0]*)/;
const EVENT = /(?:^|\0)PROCSUP_EVENT=([^\0]*)/;

/** The event that a hook was begun for, in snake case; undefined when the process is none. */
export function hookEventOf(pid: number): string | undefined {
  const environment = environmentOf(pid);
  return environment && variableIn(environment, EVENT);
}

/** Undefined when the process is gone or not ours to read. */
function environmentOf(pid: number): Uint8Array | undefined {
  try {
    return Deno.readFileSync(`/proc/${pid}/environ`);
  } catch {
    return undefined;
  }
}

function variableIn(environment: Uint8Array, pattern: RegExp): string | undefined {
  return environment.length === 0 ? undefined : pattern.exec(decoder.decode(environment))?.[1];
}

/**
 * Whether a process was in the middle of `exec` when its environment was read: that of the old program
 * broke off, or the new one has no code yet. What is of the kernel, or has ended, has no memory.
 */
function isBetweenPrograms(pid: number, { length }: Uint8Array): boolean {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return false;
  const fields = statFields(stat).map(Number);
  const [memory, code, start, end] = [fields[20]!, fields[23]!, fields[47]!, fields[48]!];
  return memory > 0 && (code === 0 || length < end - start);
}

function* procPids(): Generator<number> {
  for (const entry of Deno.readDirSync("/proc")) {
    const pid = Number(entry.name);
    if (pid > 0) yield pid;
  }
}

/** From the third on. The second, the command's name, may hold blanks and parentheses. */
function statFields(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parseStat(stat: string): ProcessRow {
  const rest = statFields(stat);
  return {
    pid: parseInt(stat),
    zombie: rest[0] === "Z" || rest[0] === "X",
    ppid: Number(rest[1]),
    pgid: Number(rest[2]),
    cpuMs: (Number(rest[11]) + Number(rest[12])) * CLOCK_TICK_MS,
    threads: Number(rest[17]),
    start: rest[19]!,
    rssBytes: Number(rest[21]) * PAGE_BYTES,
  };
}

/** macOS and other systems without /proc. */
function psRows(which: readonly string[]): ProcessRow[] {
  const { stdout } = new Deno.Command("ps", {
    args: [...which, "-o", "pid=,ppid=,pgid=,state=,time=,rss=,lstart="],
    env: { LC_ALL: "C" },
    stderr: "null",
  }).outputSync();
  return decoder.decode(stdout).split("\n").filter(Boolean).map((line) => {
    const [pid, ppid, pgid, state, time, rss, ...start] = line.trim().split(/\s+/);
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      zombie: state!.startsWith("Z"),
      cpuMs: psTimeMs(time!),
      rssBytes: Number(rss) * 1024,
      threads: 1,
      start: start.join(" "),
    };
  });
}

/** `1:02.50`, `3:01:02` → milliseconds. */
function psTimeMs(time: string): number {
  return time.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}
