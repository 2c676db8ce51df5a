/** A run's processes as a whole: the group that its wrapper leads, and descendants that left it. */

import type { Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { cgroups } from "./cgroup.ts";
import { sleep } from "./clock.ts";
import { type ProcessScan, scanProcesses, type Sighting } from "./process_scan.ts";
import { type ProcessRow, processRow, recentProcessTable, userOf } from "./process_table.ts";
import { sendSignal } from "./signals.ts";
import { willLead } from "./child_process.ts";

/** Whether the wrapper's pid still belongs to this run, not to a later process. */
export function wrapperAlive(run: Run): boolean {
  const row = processRow(run.wrapperPid);
  // A process that cannot be read, for lack of descriptors for instance, must not count as dead.
  if (row === undefined) return run.wrapperPid > 0 && exists(run.wrapperPid);
  return !row.zombie && row.start === run.wrapperStart;
}

/**
 * Signals the whole group, even stopped members. Sends nothing if the group may be a stranger's:
 * its leader is gone and no member carries our run id.
 */
async function signalGroup(run: Run, signal: SignalName, deadline: Deadline): Promise<void> {
  await untilLeading(run, deadline);
  if (!wrapperAlive(run) && !(await survivors(run)).some((pid) => inGroup(pid, run))) return;
  sendSignal(-run.wrapperPid, signal);
  if (signal !== "SIGKILL" && signal !== "SIGSTOP") sendSignal(-run.wrapperPid, "SIGCONT");
}

/** Waits until a new wrapper leads its process group; see child_process.ts. */
async function untilLeading(run: Run, deadline: Deadline): Promise<void> {
  while (wrapperAlive(run) && !groupExists(run) && deadline() > performance.now()) {
    await sleep(POLL_MS[0]!);
  }
}

function inGroup(pid: number, run: Run): boolean {
  return run.wrapperPid > 0 && processRow(pid)?.pgid === run.wrapperPid;
}

/** Whether the group has a member. Cheap; counts members that ended but were not collected. */
function groupExists(run: Run): boolean {
  // The wrapper pid is 0 while only the intent is recorded. Group 0 would be our own.
  return run.wrapperPid > 0 && exists(-run.wrapperPid);
}

/** Whether a process, or a group if negative, exists. */
function exists(pid: number): boolean {
  try {
    Deno.kill(pid, 0 as unknown as Deno.Signal);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}

/** Runs whose processes are killed at sight: one that forks and ends may be gone after the scan. */
const condemned = new Set<Condemned>();

interface Condemned {
  readonly run: Run;
  readonly members: RunMembers;
}

let pass: Promise<unknown> = Promise.resolve();
let nextPass: { readonly runs: Run[]; readonly scan: Promise<ProcessScan> } | undefined;

/**
 * The next scan of the machine. It begins when the current one is over, and serves all callers
 * until then: processes may have started since the current one began.
 */
function nextScan(run: Run): Promise<ProcessScan> {
  if (nextPass === undefined) {
    const runs: Run[] = [];
    const scan = pass.then(() => {
      nextPass = undefined;
      const begun = scanProcesses({
        users: usersOf(runs),
        since: earliestStart([...runs, ...Array.from(condemned, ({ run }) => run)]),
        seen: killCondemned,
      });
      pass = begun.catch(() => {});
      return begun;
    });
    nextPass = { runs, scan };
  }
  nextPass.runs.push(run);
  return nextPass.scan;
}

/** The users that processes of these runs can have; undefined for any: root can change users. */
function usersOf(runs: readonly Run[]): ReadonlySet<number> | undefined {
  const users = runs.map(({ user }) => user);
  return users.includes(undefined) ? undefined : new Set([0, ...users as number[]]);
}

/** Start time of the oldest of these runs; undefined if one is unknown. */
function earliestStart(runs: readonly Run[]): number | undefined {
  if (runs.some(({ wrapperStart }) => wrapperStart === "")) return undefined;
  return Math.min(...runs.map(({ wrapperStart }) => Number(wrapperStart)));
}

function killCondemned(process: Sighting): void {
  for (const { members } of condemned) {
    if (members.claims(process)) sendSignal(process.pid, "SIGKILL");
  }
}

/** Living processes of a run, including those in its control group. */
export async function survivors(
  run: Run,
  members: RunMembers = new RunMembers(run),
): Promise<readonly number[]> {
  const scan = await nextScan(run);
  const gathered = cgroups().members(run.runId).flatMap((pid) => processRow(pid) ?? []);
  return members.find(scan, gathered);
}

/**
 * Living members of the run's group. The kernel does not reuse the number of a group with members:
 * the group is a stranger's only if the wrapper's pid belongs to another process.
 */
function groupMembers(run: Run): readonly ProcessRow[] {
  if (!groupExists(run)) return [];
  const members = recentProcessTable().filter((row) => row.pgid === run.wrapperPid && !row.zombie);
  const leader = members.find((row) => row.pid === run.wrapperPid);
  const stranger = leader !== undefined && leader.start !== run.wrapperStart;
  return stranger ? [] : members;
}

const POLL_MS = [2, 2, 4, 8, 16, 32];

/** Polls after which an ended process should have been collected, if its parent ever does that. */
const COLLECTED_ROUNDS = 5;

/** A deadline in steady milliseconds. Read at each poll: a second stop may bring it forward. */
export type Deadline = () => number;

/** Polls until the group is gone; false if the deadline passes first. */
async function waitForGroup(run: Run, deadline: Deadline): Promise<boolean> {
  for (let round = 0; !groupGone(run, round >= COLLECTED_ROUNDS); round++) {
    const left = deadline() - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(left, POLL_MS[Math.min(round, POLL_MS.length - 1)]!));
  }
  return true;
}

/** How long to wait after SIGKILL: an uninterruptible call delays it. */
const KILL_PATIENCE_MS = 2000;

/** The state of the stop signal to a run's group. */
export interface GroupSignal {
  /** It was sent before, perhaps by an earlier daemon. */
  readonly isSent: boolean;
  /** Called once it is sent. */
  readonly sent: () => void;
}

const UNSENT: GroupSignal = { isSent: false, sent: () => {} };

export interface TerminationResult {
  /** Whether SIGKILL was needed. */
  readonly killed: boolean;
  /** Pids that could not be ended. */
  readonly left: readonly number[];
}

/**
 * Terminates all processes of a run: sends the signal to its group, unless that was done before, then
 * to descendants that left it, and at the deadline SIGKILL to all. Returns when they are gone, or could not be ended.
 */
export async function terminateRun(
  run: Run,
  signal: SignalName,
  deadline: Deadline,
  { isSent, sent }: GroupSignal = UNSENT,
): Promise<TerminationResult> {
  const members = new RunMembers(run);
  // After the signal, survivors may have lost the parent or session leader by which they are found.
  if (!cgroups().isWhole(run.runId)) await survivors(run, members);
  if (deadline() > performance.now()) {
    if (!isSent) {
      await signalGroup(run, signal, deadline);
      sent();
    }
    if (await waitForGroup(run, deadline) && await endStrays({ run, members }, signal, deadline)) {
      return { killed: false, left: [] };
    }
  }
  return { killed: true, left: await killRun({ run, members }) };
}

/** Delay of a cleanup that gives way to the next start. */
const ASIDE_MS = 10;

/** The termination of the processes that outlived their run. */
export interface OrphanCleanup {
  /** Resolves when its group is gone. */
  readonly group: Promise<unknown>;
  /** Resolves, with the number of processes found, when descendants that left it are gone, too. */
  readonly all: Promise<number>;
}

/** Terminates what an app left behind when it ended by itself. */
export function cleanUpOrphans(run: Run, signal: SignalName, deadline: Deadline): OrphanCleanup {
  const end = async () => {
    const left = await survivors(run);
    if (left.length > 0) await terminateRun(run, signal, deadline);
    // The wrapper is about to end by itself.
    return left.filter((pid) => pid !== run.wrapperPid).length;
  };
  // An unknown group may still have members.
  if (run.wrapperPid <= 0 || groupExists(run)) {
    const all = end();
    return { group: all, all };
  }
  // The scan of the machine would delay the next start of the app.
  return { group: Promise.resolve(), all: sleep(ASIDE_MS).then(end) };
}

/** Sends SIGKILL to every process until none is left, to catch those forked meanwhile. */
async function killRun(condemnation: Condemned): Promise<readonly number[]> {
  const { run, members } = condemnation;
  const deadline = performance.now() + KILL_PATIENCE_MS;
  await killBelowWrapper(run);
  condemned.add(condemnation);
  try {
    const killed = new Set<number>();
    for (;;) {
      cgroups().kill(run.runId);
      const found = await survivors(run, members);
      if (found.some((pid) => inGroup(pid, run))) sendSignal(-run.wrapperPid, "SIGKILL");
      for (const pid of found) {
        killed.add(pid);
        sendSignal(pid, "SIGKILL");
      }
      const left = [...killed].filter(isDying);
      if (found.length + left.length === 0) return [];
      if (performance.now() >= deadline) return left.length > 0 ? left : found;
      await sleep(POLL_MS[0]!);
    }
  } finally {
    condemned.delete(condemnation);
  }
}

/**
 * Whether a signalled process still exists. A dying process cannot be matched to its run: it loses
 * its environment first, and its sockets last.
 */
function isDying(pid: number): boolean {
  return processRow(pid)?.zombie === false;
}

/** How long a wrapper may take to write the exit file. */
const LAST_WORD_MS = 100;

/** Kills the group except its wrapper, which still has to write the exit file. */
async function killBelowWrapper(run: Run): Promise<void> {
  if (!wrapperAlive(run)) return;
  for (const { pid } of groupMembers(run)) {
    if (pid !== run.wrapperPid) sendSignal(pid, "SIGKILL");
  }
  const deadline = performance.now() + LAST_WORD_MS;
  await waitForGroup(run, () => deadline);
}

/**
 * True if the group is empty. A close look also recognizes a group of uncollected zombies, and one
 * whose number was reused. It reads every process of the machine.
 */
function groupGone(run: Run, closely: boolean): boolean {
  if (!groupExists(run)) return true;
  if (!closely || wrapperAlive(run)) return false;
  return !recentProcessTable().some((row) => row.pgid === run.wrapperPid && !row.zombie);
}

/** Terminates descendants that left the group; false if the deadline passes first. */
async function endStrays(
  { run, members }: Condemned,
  signal: SignalName,
  deadline: Deadline,
): Promise<boolean> {
  let strays = await survivors(run, members);
  const signalled = strays;
  for (const pid of signalled) {
    sendSignal(pid, signal);
    sendSignal(pid, "SIGCONT");
  }
  while (strays.length > 0 || signalled.some(isDying)) {
    if (performance.now() >= deadline()) return false;
    await sleep(strays.length > 0 ? 20 : POLL_MS[0]!);
    strays = await survivors(run, members);
  }
  return true;
}

/** Never terminated, even if an app started this supervisor. */
const NEVER: ReadonlySet<number> = new Set([1, Deno.pid]);

/**
 * The processes of one run, collected over several scans. Outside a control group they are
 * recognized by what they inherit: the run id in the environment, the group, the session. A process
 * can leave each of them, and its parent can end. So known members are remembered while the run is
 * being terminated.
 */
export class RunMembers {
  readonly #run: Run;
  /** Start times by pid. */
  readonly #known = new Map<number, string>();
  readonly #groups = new Set<number>();
  readonly #sessions = new Set<number>();

  constructor(run: Run) {
    this.#run = run;
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

  /** Whether a process belongs to the run by its own run id, group or session. */
  claims({ pid, runId, row }: Sighting): boolean {
    if (row.zombie || NEVER.has(pid)) return false;
    return this.#isMarked(pid, runId) ||
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
      if (this.#isMarked(pid, runId)) yield scan.rows.get(pid)!;
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
  #isMarked(pid: number, runId: string | undefined): boolean {
    const { user } = this.#run;
    return runId === this.#run.runId && (user === undefined || [user, 0].includes(userOf(pid)));
  }
}

type RowsBy = ReadonlyMap<number, readonly ProcessRow[]>;
