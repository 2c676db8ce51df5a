/** A run's processes as a whole: the group that its wrapper leads, and descendants that left it. */

import type { Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { cgroups } from "./cgroup.ts";
import { sleep } from "./clock.ts";
import { type ProcessScan, scanProcesses, type Sighting } from "./process_scan.ts";
import { type ProcessRow, processRow, recentProcessTable } from "./process_table.ts";
import { RunMembers } from "./run_members.ts";

/** Signals a process or, if negative, a group; false if it does not exist. */
export function sendSignal(pid: number, signal: SignalName): boolean {
  try {
    Deno.kill(pid, signal as Deno.Signal);
    return true;
  } catch (error) {
    // ESRCH arrives as NotFound; a zombie that is another user's may answer EPERM.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) {
      return false;
    }
    throw error;
  }
}

/** Whether the wrapper's pid still belongs to this run, not to a later process. */
export function wrapperAlive(run: Run): boolean {
  const row = processRow(run.wrapperPid);
  // One that is there and cannot be read, for want of descriptors perhaps, must not pass for dead.
  if (row === undefined) return run.wrapperPid > 0 && exists(run.wrapperPid);
  return !row.zombie && row.start === run.wrapperStart;
}

/**
 * Signals the whole group, stopped members included. Nothing is sent when the group may belong to a
 * stranger: its leader is gone and no member carries our run id.
 */
async function signalGroup(run: Run, signal: SignalName): Promise<void> {
  if (!wrapperAlive(run) && !(await survivors(run)).some((pid) => inGroup(pid, run))) return;
  sendSignal(-run.wrapperPid, signal);
  if (signal !== "SIGKILL" && signal !== "SIGSTOP") sendSignal(-run.wrapperPid, "SIGCONT");
}

function inGroup(pid: number, run: Run): boolean {
  return processRow(pid)?.pgid === run.wrapperPid;
}

/** Whether the group has a member. Cheap; a member that ended and was not collected counts. */
function groupExists(run: Run): boolean {
  // A run of which only the intent is known: group 0 would be our own.
  return run.wrapperPid > 0 && exists(-run.wrapperPid);
}

/** Whether there is a process or, negative, a group. */
function exists(pid: number): boolean {
  try {
    Deno.kill(pid, 0 as unknown as Deno.Signal);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}

/** Runs whose processes are killed as soon as they are seen: one that forks and ends may be gone after. */
const condemned = new Set<Condemned>();

interface Condemned {
  readonly run: Run;
  readonly members: RunMembers;
}

let pass: Promise<unknown> = Promise.resolve();
let nextPass: { readonly runs: Run[]; readonly scan: Promise<ProcessScan> } | undefined;

/**
 * The next pass over the machine. It begins when the one under way is over, and serves all who have
 * asked until then: processes may have started since the last one began.
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

/** The users that processes of these runs can have; undefined for any, as what root starts can change. */
function usersOf(runs: readonly Run[]): ReadonlySet<number> | undefined {
  const users = runs.map(({ user }) => user);
  return users.includes(undefined) ? undefined : new Set([0, ...users as number[]]);
}

/** No process of these runs is older; undefined where a start is not known. */
function earliestStart(runs: readonly Run[]): number | undefined {
  if (runs.some(({ wrapperStart }) => wrapperStart === "")) return undefined;
  return Math.min(...runs.map(({ wrapperStart }) => Number(wrapperStart)));
}

function killCondemned(process: Sighting): void {
  for (const { members } of condemned) {
    if (members.claims(process)) sendSignal(process.pid, "SIGKILL");
  }
}

/** Living processes of a run, its control group's included. */
export async function survivors(
  run: Run,
  members: RunMembers = new RunMembers(run),
): Promise<readonly number[]> {
  const scan = await nextScan(run);
  const gathered = cgroups().members(run.runId).flatMap((pid) => processRow(pid) ?? []);
  return members.find(scan, gathered);
}

/**
 * Living members of the run's group. The kernel gives the number of a group to no new process while
 * the group has a member: only when the wrapper's pid is another process's is the group a stranger's.
 */
function groupMembers(run: Run): readonly ProcessRow[] {
  if (!groupExists(run)) return [];
  const members = recentProcessTable().filter((row) => row.pgid === run.wrapperPid && !row.zombie);
  const leader = members.find((row) => row.pid === run.wrapperPid);
  const stranger = leader !== undefined && leader.start !== run.wrapperStart;
  return stranger ? [] : members;
}

const POLL_MS = [2, 2, 4, 8, 16, 32];

/** Polls after which a process that ended should have been collected, if anybody does. */
const COLLECTED_ROUNDS = 5;

/** A moment in steady milliseconds, asked for anew at each look: a second stop may bring it forward. */
export type Deadline = () => number;

/** Polls until the group is gone or the deadline has passed; whether it was in time. */
async function waitForGroup(run: Run, deadline: Deadline): Promise<boolean> {
  for (let round = 0; !groupGone(run, round >= COLLECTED_ROUNDS); round++) {
    const left = deadline() - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(left, POLL_MS[Math.min(round, POLL_MS.length - 1)]!));
  }
  return true;
}

/** How long SIGKILL may take to show: a process in an uninterruptible call dies only after it. */
const KILL_PATIENCE_MS = 2000;

/** What came of ending a run. */
export interface TerminationResult {
  /** Whether SIGKILL was needed. */
  readonly killed: boolean;
  /** Pids that could not be ended. */
  readonly left: readonly number[];
}

/**
 * Ends everything of a run: the signal to its group, then to descendants that left it, and at the
 * deadline SIGKILL to all of them. Returns when they are gone, or could not be ended.
 */
export async function terminateRun(
  run: Run,
  signal: SignalName,
  deadline: Deadline,
): Promise<TerminationResult> {
  const members = new RunMembers(run);
  // After the signal, survivors may have lost the parent or session leader by which they are found.
  if (!cgroups().isWhole(run.runId)) await survivors(run, members);
  if (deadline() > performance.now()) {
    await signalGroup(run, signal);
    if (await waitForGroup(run, deadline) && await endStrays({ run, members }, signal, deadline)) {
      return { killed: false, left: [] };
    }
  }
  return { killed: true, left: await killRun({ run, members }) };
}

/** How long what is done on the side makes way. */
const ASIDE_MS = 10;

/** The termination of the processes that outlived their run. */
export interface OrphanCleanup {
  /** Resolves when its group is gone. */
  readonly group: Promise<unknown>;
  /** Resolves when descendants that left the group are gone, too; with how many processes there were. */
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
  // Whose group is not known could be any of them.
  if (run.wrapperPid <= 0 || groupExists(run)) {
    const all = end();
    return { group: all, all };
  }
  // The look at the whole machine would hold up the next start of the app.
  return { group: Promise.resolve(), all: sleep(ASIDE_MS).then(end) };
}

/** SIGKILL to every process, again for those that were being forked meanwhile. */
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
 * Whether a process that was signalled is still there: while it dies it belongs to no run any more, as
 * its environment goes first and its sockets last.
 */
function isDying(pid: number): boolean {
  return processRow(pid)?.zombie === false;
}

/** How long a wrapper may take to write down how its app ended. */
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

/** Ends the descendants that left the group; whether they were gone in time. */
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
