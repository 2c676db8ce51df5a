/** All processes of the machine, read in one pass. */

import { ifPossible } from "../../model/errors.ts";
import { isLack } from "../lack.ts";
import { isLinux } from "../os.ts";

/** A process as the kernel describes it. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Its session; 0 if unknown. */
  readonly sid: number;
  /** True if all its threads have ended and its parent has not collected it yet. */
  readonly zombie: boolean;
  /** Start time in the kernel's unit. With the pid it identifies a process within a boot. */
  readonly start: string;
  /** CPU time, on Linux with that of children that have ended. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly threads: number;
}

const CLOCK_TICK_MS = 10;

const buffer = new Uint8Array(4096);
const decoder = new TextDecoder();

/** A small file of /proc as text; undefined if the process is gone or not ours to read. */
export function readProc(path: string): string | undefined {
  const read = readProcInto(buffer, path);
  return read && decoder.decode(read);
}

/** The start of a file of /proc, until the buffer is used again; undefined as in `readProc()`. */
export function readProcInto(into: Uint8Array, path: string): Uint8Array | undefined {
  try {
    using file = Deno.openSync(path);
    return into.subarray(0, file.readSync(into) ?? 0);
  } catch (error) {
    noteLack(error);
    return undefined;
  }
}

/** The last failure to open something in /proc for lack of descriptors. */
let lack: unknown;

function noteLack(error: unknown): void {
  if (isLack(error)) lack = error;
}

/**
 * Returns a check that throws if, since this call, a file in /proc could not be opened for lack of
 * descriptors: existing processes then look gone.
 */
export function lackCheck(): () => void {
  const before = lack;
  return () => {
    if (lack !== before) throw lack;
  };
}

/** The process with that pid, or undefined. */
export function processRow(pid: number): ProcessRow | undefined {
  if (!isLinux) return psRows(["-p", String(pid)])[0];
  const stat = statOf(pid);
  return stat && rowOf(pid, stat);
}

/** Every process that can be seen. Throws if they cannot all be read, for lack of descriptors. */
export function processTable(): ProcessRow[] {
  const at = performance.now();
  const rows = isLinux ? procRows() : psRows(["-A"]);
  const took = performance.now() - at;
  recent = { rows, until: performance.now() + Math.max(5, 2 * took) };
  return rows;
}

function procRows(): ProcessRow[] {
  const check = lackCheck();
  const rows = [...procPids()].flatMap((pid) => processRow(pid) ?? []);
  check();
  return rows;
}

/** Like `processTable()`, but empty instead of throwing: for checks that are repeated anyway. */
export function processTableIfReadable(): ProcessRow[] {
  return ifPossible(() => processTable()) ?? [];
}

let recent: { readonly rows: ProcessRow[]; readonly until: number } | undefined;

/**
 * The process table of a few milliseconds ago, shared by what looks at the same time, as when many
 * processes end at once. The longer a table takes to read, the longer it is kept.
 */
export function recentProcessTable(): readonly ProcessRow[] {
  return recent !== undefined && performance.now() <= recent.until ? recent.rows : processTable();
}

/**
 * Milliseconds since a process of this boot was started, to about a second, by the monotonic clock;
 * undefined if unknown.
 */
export function ageOf({ start }: Pick<ProcessRow, "start">): number | undefined {
  if (!isLinux || start === "") return undefined;
  return Math.max(0, Deno.osUptime() * 1000 - Number(start) * CLOCK_TICK_MS);
}

/** The user that a process runs as; -1 when it is gone. */
export function userOf(pid: number): number {
  return ifPossible(() => Deno.statSync(`/proc/${pid}`).uid!) ?? -1;
}

/** Name of a process; the kernel keeps 15 bytes of it. Empty if the process is gone. */
export function nameOf(pid: number): string {
  return readProc(`/proc/${pid}/comm`)?.trim() ?? "";
}

/** Paths of a process's descriptors; none if it is gone or another user's. */
export function descriptorsOf(pid: number): string[] {
  if (!isLinux) return [];
  const own = entriesOf(`/proc/${pid}/fd`);
  return own.length > 0 ? own : entriesOf(`/proc/${livingThread(pid)}/fd`);
}

/** Target of a link in /proc, such as `socket:[12]`; empty if it is gone, or another user's. */
export function linkOf(path: string): string {
  return ifPossible(() => Deno.readLinkSync(path)) ?? "";
}

/**
 * The part of a /proc path that shows a process's memory and files: usually `12`. If the main
 * thread has ended, that of another thread, which has the same: `12/task/13`.
 */
export function livingThread(pid: number): string {
  const stat = statOf(pid);
  if (stat === undefined || !isLeaderless(stat)) return String(pid);
  const threads = entriesOf(`/proc/${pid}/task`).map((path) => path.slice("/proc/".length));
  return threads.find((thread) => !/^[ZX]?$/.test(statOf(thread)?.[0] ?? "")) ?? String(pid);
}

/** Whether the main thread has ended, and others live on. */
function isLeaderless(stat: Stat): boolean {
  return stat[0] === "Z" && Number(stat[17]) > 1;
}

/** Whether a process has no memory: it has ended, or is a part of the kernel. */
export function isMemoryless(stat: Stat): boolean {
  return stat[20] === "0" && !isLeaderless(stat);
}

function entriesOf(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
  } catch (error) {
    noteLack(error);
    return [];
  }
}

export function childrenOf(pid: number): number[] {
  const check = lackCheck();
  try {
    const threads = entriesOf(`/proc/${pid}/task`);
    check();
    const lists = threads.map((thread) => Deno.readTextFileSync(`${thread}/children`));
    return lists.join("").split(" ").filter(Boolean).map(Number);
  } catch {
    // One of its threads has just ended, the kernel keeps no such lists, or there was no descriptor.
    return processTable().filter(({ ppid }) => ppid === pid).map((row) => row.pid);
  }
}

/** Pids of all processes that can be seen. */
export function* procPids(): Generator<number> {
  for (const entry of Deno.readDirSync("/proc")) {
    const pid = Number(entry.name);
    if (pid > 0) yield pid;
  }
}

/** The fields of a `stat` file from the third on; those after `exit_signal` only on request. */
type Stat = readonly string[];

/** The `stat` fields of a process, or of a thread: `12/task/13`. Undefined if it is gone. */
export function statOf(pid: number | string, fields = 36): Stat | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  // The second field, the command's name, may contain blanks and parentheses.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ", fields);
}

/** True for a thread other than the main one: its end signals no parent. */
export function isThread(stat: Stat): boolean {
  return stat[35] === "-1";
}

export function rowOf(pid: number, stat: Stat): ProcessRow {
  const leaderless = isLeaderless(stat);
  const memory = leaderless ? statOf(livingThread(pid)) ?? stat : stat;
  return {
    pid,
    zombie: !leaderless && (stat[0] === "Z" || stat[0] === "X"),
    ppid: Number(stat[1]),
    pgid: Number(stat[2]),
    sid: Number(stat[3]),
    cpuMs: stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * CLOCK_TICK_MS,
    threads: Number(stat[17]),
    start: stat[19]!,
    rssBytes: Number(memory[21]) * pageBytes(),
  };
}

/** The key of the page size among the values that the kernel hands to a program. */
const AT_PAGESZ = 6n;

let page: number | undefined;

/** Size of a page of memory: 4 KiB, but 16 or 64 KiB on some machines with ARM. */
function pageBytes(): number {
  return page ??= pageBytesIn(readProcInto(new Uint8Array(1024), "/proc/self/auxv")) ?? 4096;
}

/** The page size in the content of an `auxv` file: pairs of a key and a value. */
export function pageBytesIn(auxv: Uint8Array | undefined): number | undefined {
  if (auxv === undefined) return undefined;
  const pairs = new BigUint64Array(auxv.slice().buffer);
  for (let at = 0; at < pairs.length; at += 2) {
    if (pairs[at] === AT_PAGESZ) return Number(pairs[at + 1]);
  }
  return undefined;
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
      sid: 0,
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
