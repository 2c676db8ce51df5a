/** A run's processes as a whole: the group that its wrapper leads, and descendants that left it. */

import type { StopMode } from "../../model/process_config.ts";
import type { Run } from "../../model/process_state.ts";
import type { SignalName } from "../../model/signal.ts";
import { cgroups } from "./cgroup.ts";
import { sleep } from "../clock.ts";
import { type Listener, listenersOf, stillListening } from "./listening_ports.ts";
import { type ProcessScan, scanProcesses, type Sighting } from "./process_scan.ts";
import { nameOf, type ProcessRow, processRow, recentProcessTable } from "./process_table.ts";
import { RunMembers } from "./run_members.ts";
import { sendSignal } from "./signals.ts";

/** Whether the wrapper's pid still belongs to this run, not to a later process. */
export function wrapperAlive(run: Run): boolean {
  const row = processRow(run.wrapperPid);
  // A process that cannot be read, for lack of descriptors for instance, must not count as dead.
  if (row === undefined) return run.wrapperPid > 0 && exists(run.wrapperPid);
  return !row.zombie && row.start === run.wrapperStart;
}

/** How a run is stopped. */
export interface StopWay {
  readonly signal: SignalName;
  readonly mode: StopMode;
  /** Pid of the app, the main process; 0 while it is not known. */
  readonly main: number;
}

/** Signals that stop a process. SIGCONT discards one that was not handled yet. */
const STOPPING: ReadonlySet<SignalName> = new Set(["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"]);

/** Signals a process, or a group if negative, even if it is stopped. */
function signalEvenStopped(pid: number, signal: SignalName): void {
  if (signal !== "SIGKILL" && STOPPING.has(signal)) sendSignal(pid, "SIGCONT");
  sendSignal(pid, signal);
  if (signal !== "SIGKILL" && !STOPPING.has(signal)) sendSignal(pid, "SIGCONT");
}

/**
 * Signals the whole group. Sends nothing if the group may be a stranger's: its leader is gone and no
 * member carries our run id.
 */
async function signalGroup(run: Run, signal: SignalName, deadline: Deadline): Promise<void> {
  await untilLeading(run, deadline);
  if (!wrapperAlive(run) && !(await survivors(run)).some((pid) => isInGroup(pid, run))) return;
  signalEvenStopped(-run.wrapperPid, signal);
}

/** Waits until a new wrapper leads its process group; see child_process.ts. */
async function untilLeading(run: Run, deadline: Deadline): Promise<void> {
  while (wrapperAlive(run) && !groupExists(run) && deadline() > performance.now()) {
    await sleep(POLL_MS[0]!);
  }
}

/**
 * Whether a process is in the run's group. The kernel does not reuse the number of a group with
 * members: the group is a stranger's only if the wrapper's pid belongs to another process.
 */
function inGroup({ pgid }: Pick<ProcessRow, "pgid">, run: Run): boolean {
  if (run.wrapperPid <= 0 || pgid !== run.wrapperPid) return false;
  const leader = processRow(run.wrapperPid);
  return leader === undefined || leader.start === run.wrapperStart;
}

export function isInGroup(pid: number, run: Run): boolean {
  const row = processRow(pid);
  return row !== undefined && inGroup(row, run);
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

/** Living members of the run's group. */
export function groupMembers(run: Run): readonly ProcessRow[] {
  if (!groupExists(run)) return [];
  const members = recentProcessTable().filter((row) => row.pgid === run.wrapperPid && !row.zombie);
  return members.some((row) => inGroup(row, run)) ? members : [];
}

const POLL_MS = [2, 2, 4, 8, 16, 32];

/** Polls after which an ended process should have been collected, if its parent ever does that. */
const COLLECTED_ROUNDS = 5;

/** A deadline in steady milliseconds. Read at each poll: a second stop may bring it forward. */
export type Deadline = () => number;

/** Polls until the group is gone; false if the deadline passes first. */
function waitForGroup(run: Run, deadline: Deadline): Promise<boolean> {
  return waitUntil((round) => groupGone(run, round >= COLLECTED_ROUNDS), deadline);
}

/** Polls until a condition holds; false if the deadline passes first. */
async function waitUntil(
  holds: (round: number) => boolean,
  deadline: Deadline,
): Promise<boolean> {
  for (let round = 0; !holds(round); round++) {
    const left = deadline() - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(left, POLL_MS[Math.min(round, POLL_MS.length - 1)]!));
  }
  return true;
}

/** How long to wait after SIGKILL: an uninterruptible call delays it. */
const KILL_PATIENCE_MS = 2000;

/** The state of the stop signal to a run. */
export interface StopProgress {
  /** It was sent before, perhaps by an earlier daemon. */
  readonly isSent: boolean;
  /** Called once it is sent. */
  readonly sent: () => void;
}

const UNSENT: StopProgress = { isSent: false, sent: () => {} };

export interface TerminationResult {
  /** Whether SIGKILL was needed. */
  readonly killed: boolean;
  /** Pids that could not be ended. */
  readonly left: readonly number[];
  /** Processes that were not found but still have a socket on which the run listened. */
  readonly listening?: readonly Listener[];
}

/**
 * Stops a run by its mode. `group`: sends the signal to its group, then to descendants that left it.
 * `main`: sends it to the app alone; when that has ended, the rest gets SIGKILL. `leave`: stops only
 * the app. The signal is not sent again if that was done before. At the deadline what is still to be
 * stopped gets SIGKILL. Returns when it is gone, or could not be ended.
 */
export async function terminateRun(
  run: Run,
  way: StopWay,
  deadline: Deadline,
  progress: StopProgress = UNSENT,
): Promise<TerminationResult> {
  const members = new RunMembers(run);
  // After the signal, survivors may have lost the parent or session leader by which they are found.
  const pids = cgroups().isWhole(run.runId)
    ? cgroups().members(run.runId)
    : await survivors(run, members);
  const sockets = listenersOf(pids);
  const stop = isForGroup(run, way) ? terminateGroup : terminateMain;
  const result = await stop({ run, members }, way, deadline, progress);
  // With `leave` its children go on, and may listen.
  const listening = way.mode === "leave" ? [] : stillListening(sockets);
  return listening.length === 0 ? result : { ...result, listening };
}

/** Whether all processes get the signal: also those of a run that has no app yet. */
function isForGroup(run: Run, { mode, main }: StopWay): boolean {
  return mode === "group" || main === 0 && (run.wrapperPid <= 0 || wrapperAlive(run));
}

type Terminate = (
  condemned: Condemned,
  way: StopWay,
  deadline: Deadline,
  progress: StopProgress,
) => Promise<TerminationResult>;

const terminateGroup: Terminate = async (condemned, way, deadline, { isSent, sent }) => {
  const { signal, main } = way;
  const { run } = condemned;
  if (deadline() > performance.now()) {
    if (!isSent) {
      await signalGroup(run, signal, deadline);
      // The wrapper waits for the app, also for one such as timeout(1) that has left the group.
      const app = await appOf(condemned, main);
      if (app !== undefined && app.pgid !== run.wrapperPid) signalEvenStopped(app.pid, signal);
      sent();
    }
    if (await waitForGroup(run, deadline) && await endStrays(condemned, signal, deadline)) {
      return { killed: false, left: [] };
    }
  }
  return { killed: true, left: await killRun(condemned) };
};

const terminateMain: Terminate = async (condemned, way, deadline, { isSent, sent }) => {
  const app = await appOf(condemned, way.main);
  if (app !== undefined && deadline() > performance.now()) {
    if (!isSent) {
      signalEvenStopped(app.pid, way.signal);
      sent();
    }
    await waitForProcess(app, deadline);
  }
  const killed = app !== undefined && isAlive(app);
  if (way.mode === "main") return { killed, left: await killRun(condemned) };
  if (!killed) return { killed, left: [] };
  sendSignal(app.pid, "SIGKILL");
  const patience = performance.now() + KILL_PATIENCE_MS;
  return { killed, left: await waitForProcess(app, () => patience) ? [] : [app.pid] };
};

/** The app itself, if it is alive. A new main process is not a child of the wrapper. */
async function appOf({ run, members }: Condemned, pid: number): Promise<ProcessRow | undefined> {
  const row = pid > 0 ? processRow(pid) : undefined;
  if (row === undefined || row.zombie) return undefined;
  // Only a wrapper can collect its app and so free the pid.
  const isOurs = wrapperAlive(run)
    ? row.ppid === run.wrapperPid || inGroup(row, run)
    : (await survivors(run, members)).includes(pid);
  return isOurs ? row : undefined;
}

function isAlive({ pid, start }: ProcessRow): boolean {
  const row = processRow(pid);
  return row?.start === start && !row.zombie;
}

/** Polls until a process has ended; false if the deadline passes first. */
function waitForProcess(process: ProcessRow, deadline: Deadline): Promise<boolean> {
  return waitUntil(() => !isAlive(process), deadline);
}

/** Delay of a cleanup that gives way to the next start. */
const ASIDE_MS = 10;

/** The termination of the processes that outlived their run. */
export interface OrphanCleanup {
  /** Resolves when its group is gone. */
  readonly group: Promise<unknown>;
  /** Resolves when descendants that left it are gone, too. */
  readonly all: Promise<Orphans>;
}

export interface Orphans {
  /** Processes found. */
  readonly count: number;
  /** One that has a session of its own; of several, the one that started the others. */
  readonly background?: Background | undefined;
}

/** A background process. */
export interface Background {
  readonly pid: number;
  /** See `nameOf()`. */
  readonly name: string;
}

function backgroundOf(run: Run, pids: readonly number[]): Background | undefined {
  const rows = pids.flatMap((pid) => processRow(pid) ?? []);
  const [first] = rows.filter(({ sid, ppid }) => sid !== run.wrapperPid && !pids.includes(ppid));
  const name = first === undefined ? "" : nameOf(first.pid);
  return name === "" ? undefined : { pid: first!.pid, name };
}

/** Terminates what an app left behind when it ended by itself. */
export function cleanUpOrphans(run: Run, way: StopWay, deadline: Deadline): OrphanCleanup {
  const end = async () => {
    const found = await survivors(run);
    const left = way.mode === "leave" ? found.filter((pid) => pid === way.main) : found;
    const background = backgroundOf(run, left);
    if (left.length > 0) await terminateRun(run, way, deadline);
    // The wrapper is about to end by itself.
    return { count: left.filter((pid) => pid !== run.wrapperPid).length, background };
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
      if (found.some((pid) => isInGroup(pid, run))) sendSignal(-run.wrapperPid, "SIGKILL");
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
    signalEvenStopped(pid, signal);
  }
  while (strays.length > 0 || signalled.some(isDying)) {
    if (performance.now() >= deadline()) return false;
    await sleep(strays.length > 0 ? 20 : POLL_MS[0]!);
    strays = await survivors(run, members);
  }
  return true;
}
