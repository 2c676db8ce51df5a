/** A run's processes as a whole: the group that its wrapper leads, and descendants that left it. */

import type { Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { cgroups } from "./cgroup.ts";
import { sleep } from "./clock.ts";
import { processesByRunId, processRow, recentProcessTable } from "./process_table.ts";

/** Sends a signal to one process or, negative, to a group; false when there is none. */
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
  return row !== undefined && !row.zombie && row.start === run.wrapperStart;
}

/**
 * Signals the whole group, stopped members included. Nothing is sent when the group may belong to a
 * stranger: its leader is gone and no member carries our run id.
 */
export async function signalGroup(run: Run, signal: SignalName): Promise<void> {
  if (!wrapperAlive(run) && !(await survivors(run)).some((pid) => inGroup(pid, run))) return;
  sendSignal(-run.wrapperPid, signal);
  if (signal !== "SIGKILL" && signal !== "SIGSTOP") sendSignal(-run.wrapperPid, "SIGCONT");
}

function inGroup(pid: number, run: Run): boolean {
  return processRow(pid)?.pgid === run.wrapperPid;
}

/** Whether the group has a member. Cheap; a member that ended and was not collected counts. */
export function groupExists(run: Run): boolean {
  // A run of which only the intent is known: group 0 would be our own.
  if (run.wrapperPid <= 0) return false;
  try {
    Deno.kill(-run.wrapperPid, 0 as unknown as Deno.Signal);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}

let pass: Promise<unknown> = Promise.resolve();
let nextPass: Promise<Map<string, number[]>> | undefined;

/**
 * The next pass over the machine. It begins when the one under way is over, and serves all who have
 * asked until then: processes may have started since the last one began.
 */
function markedProcesses(): Promise<Map<string, number[]>> {
  nextPass ??= pass.then(() => {
    nextPass = undefined;
    const begun = processesByRunId();
    pass = begun.catch(() => {});
    return begun;
  });
  return nextPass;
}

/**
 * Living processes of a run: those in its group, those in its control group, and those that carry
 * its id wherever they are. A server that writes a title over its environment is known by its
 * groups. One pass over the machine for the ids serves all who ask at once.
 */
export async function survivors(run: Run): Promise<readonly number[]> {
  const marked = (await markedProcesses()).get(run.runId) ?? [];
  return [...new Set([...marked, ...groupMembers(run), ...cgroups().members(run.runId)])];
}

/**
 * Living members of the run's group. The kernel gives the number of a group to no new process while
 * the group has a member: only when the wrapper's pid is another process's is the group a stranger's.
 */
function groupMembers(run: Run): readonly number[] {
  if (!groupExists(run)) return [];
  const members = recentProcessTable().filter((row) => row.pgid === run.wrapperPid && !row.zombie);
  const leader = members.find((row) => row.pid === run.wrapperPid);
  const stranger = leader !== undefined && leader.start !== run.wrapperStart;
  return stranger ? [] : members.map((row) => row.pid);
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
export interface Ending {
  /** Whether SIGKILL was needed. */
  readonly killed: boolean;
  /** Pids that could not be ended. */
  readonly left: readonly number[];
}

/**
 * Ends everything of a run: the signal to its group, then to descendants that left it, and at the
 * deadline SIGKILL to all of them. Returns when they are gone, or could not be ended.
 */
export async function endRun(run: Run, signal: SignalName, deadline: Deadline): Promise<Ending> {
  if (deadline() > performance.now()) {
    await signalGroup(run, signal);
    if (await waitForGroup(run, deadline) && await endStrays(run, signal, deadline)) {
      return { killed: false, left: [] };
    }
  }
  return { killed: true, left: await killRun(run) };
}

/** How long what is done on the side makes way. */
const ASIDE_MS = 10;

/** The end of what a run left behind. */
export interface Sweep {
  /** Resolves when its group is gone. */
  readonly group: Promise<unknown>;
  /** Resolves when descendants that left the group are gone, too; with how many processes there were. */
  readonly all: Promise<number>;
}

/** Ends what an app left behind when it ended by itself. */
export function sweepRun(run: Run, signal: SignalName, deadline: Deadline): Sweep {
  const end = async () => {
    const left = await survivors(run);
    if (left.length > 0) await endRun(run, signal, deadline);
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

/** SIGKILL to the group and to every descendant, again for those that were being forked meanwhile. */
export async function killRun(run: Run): Promise<readonly number[]> {
  const deadline = performance.now() + KILL_PATIENCE_MS;
  await killBelowWrapper(run);
  const killed = new Set<number>();
  for (;;) {
    await signalGroup(run, "SIGKILL");
    cgroups().kill(run.runId);
    for (const pid of await survivors(run)) {
      killed.add(pid);
      sendSignal(pid, "SIGKILL");
    }
    const inTime = await waitForGroup(run, () => deadline);
    const left = await survivors(run);
    if (inTime && left.length === 0 && !anyDying(killed)) return [];
    if (performance.now() >= deadline) return left;
    await sleep(POLL_MS[0]!);
  }
}

/**
 * Whether one of these that were signalled is still there: while it dies a process belongs to no run
 * any more, as its environment goes first and its sockets last.
 */
function anyDying(signalled: Iterable<number>): boolean {
  return [...signalled].some((pid) => processRow(pid)?.zombie === false);
}

/** How long a wrapper may take to write down how its app ended. */
const LAST_WORD_MS = 100;

/** Kills the group but for its wrapper: whoever asks later, it has the exit on file. */
async function killBelowWrapper(run: Run): Promise<void> {
  if (!wrapperAlive(run)) return;
  for (const pid of groupMembers(run)) if (pid !== run.wrapperPid) sendSignal(pid, "SIGKILL");
  const deadline = performance.now() + LAST_WORD_MS;
  await waitForGroup(run, () => deadline);
}

/**
 * The group is empty; or, if it is looked at closely, holds only zombies that nobody collects or has
 * become a stranger's. That costs a look at every process of the machine.
 */
function groupGone(run: Run, closely: boolean): boolean {
  if (!groupExists(run)) return true;
  if (!closely || wrapperAlive(run)) return false;
  return !recentProcessTable().some((row) => row.pgid === run.wrapperPid && !row.zombie);
}

/** Ends the descendants that left the group; whether they were gone in time. */
async function endStrays(run: Run, signal: SignalName, deadline: Deadline): Promise<boolean> {
  let strays = await survivors(run);
  const signalled = strays;
  for (const pid of signalled) sendSignal(pid, signal);
  while (strays.length > 0 || anyDying(signalled)) {
    if (performance.now() >= deadline()) return false;
    await sleep(strays.length > 0 ? 20 : POLL_MS[0]!);
    strays = await survivors(run);
  }
  return true;
}
