/** Adopts the processes of the previous daemon, and rebuilds lost records of apps that still run. */

import { parseConfig } from "../model/config_schema.ts";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NEW, type Recovered, type Run, type Snapshot } from "../model/process_state.ts";
import { snakeCase } from "../model/key_table.ts";
import { hookWithin, transition } from "../model/transition.ts";
import { leftBy } from "../model/transition_steps.ts";
import { dirname } from "../npm/path.js";
import { findRuns, type FoundRun, homeElsewhere } from "../platform/found_runs.ts";
import type { Launcher } from "../platform/launcher.ts";
import { killOwnSession, willLead } from "../platform/child_process.ts";
import type { HomePaths } from "../platform/paths.ts";
import { hookEventOf } from "../platform/process_environment.ts";
import { wrapperAlive } from "../platform/process_group.ts";
import { processesByRunId } from "../platform/process_scan.ts";
import { ageOf, processRow } from "../platform/process_table.ts";
import type { RunFiles } from "../platform/run_files.ts";
import { readState, writeState } from "../platform/state_file.ts";
import { HEALTH_CHECK_EVENT } from "../process/health_monitor.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { inWaves, isJob } from "./bulk.ts";
import type { FoundRecords, ProcessRecord } from "./records.ts";
import type { Registry, Warn } from "./registry.ts";
import type { RetriedWrites } from "../platform/retried_writes.ts";
import { loadState } from "./saved_state.ts";
import type { SystemWorld } from "../platform/system_world.ts";

/** Recorded instead of the boot id after an orderly halt: no app of that boot still runs. */
export const HALTED = "halted";

/** Precision of process ages. */
const AGE_ERROR_MS = 1000;

/** Sources of information about earlier runs. */
interface Traces {
  readonly files: RunFiles;
  readonly launcher: Launcher;
  /** True if the machine was rebooted since the last supervisor of this home ran. */
  readonly rebooted: boolean;
  /** True if the last supervisor stopped all apps because the machine or the session ended. */
  readonly halted: boolean;
}

/** Registers the recorded processes of a home, and recovers the state of each. */
export async function recoverHome(
  registry: Registry,
  paths: HomePaths,
  { files, launcher, world }: SystemWorld,
  warn: Warn,
): Promise<void> {
  const onRecord = registry.readRecords();
  refuseCopy(onRecord, files);
  const boot = readState(paths.boot, String);
  const found = await lostRuns(onRecord, files, launcher.bootId);
  const records = new Map(onRecord.records.map((record) => [record.identity.name, record]));
  const saved = found.length === 0 ? [] : loadState(paths.saved).records;
  const rebuild = (run: FoundRun) => rebuilt(run, registry.takeNumericId(), world.inherited);
  const taken = found.map((run) => takeUpLost(records, run, saved, rebuild));
  for (const problem of [...onRecord.problems, ...boot.problems, ...taken]) warn(problem);
  const processes = [...records.values()].map((record) => registry.restore(record));
  if (found.length > 0) registry.recordAnew();
  // If the last boot is unknown, assume no reboot: processes that ended by themselves stay down.
  const rebooted = boot.value !== undefined && boot.value !== launcher.bootId;
  const halted = boot.value === HALTED;
  await recoverAll(processes, { files, launcher, rebooted, halted });
  removeStaleRunFiles(processes, files);
  if (boot.value !== launcher.bootId) recordBoot(registry.writes, paths.boot, launcher.bootId);
}

/** Throws `home_unusable` for a copy of a home whose daemon lives: two would manage the same apps. */
function refuseCopy({ records }: FoundRecords, files: RunFiles): void {
  for (const { snapshot: { run } } of records) {
    if (run === null || !isAlive(run)) continue;
    const home = ifPossible(() => homeElsewhere(run, files));
    if (home === undefined) continue;
    const what = `Cannot use home "${
      dirname(files.folder)
    }": it is a copy of "${home}", which is in use`;
    throw new ProcsupError("home_unusable", what, {
      hint: "procsup resurrect starts the saved apps in a new home",
    });
  }
}

/** Records the boot that the records belong to. */
export function recordBoot(writes: RetriedWrites, path: string, bootId: string): void {
  writes.attempt("the identity of the boot", () => writeState(path, bootId));
}

/** Living runs that are in no record. Searches only if a record may have been lost. */
async function lostRuns(
  { records, problems }: FoundRecords,
  files: RunFiles,
  bootId: string,
): Promise<FoundRun[]> {
  const known = new Set(records.flatMap(runIdsOf));
  const mayBeLost = records.length === 0 || problems.length > 0 ||
    [...files.list()].some((runId) => !known.has(runId));
  return mayBeLost ? await findRuns(files, bootId, known) : [];
}

function runIdsOf({ snapshot }: Pick<ProcessRecord, "snapshot">): string[] {
  const { run, successor, leftovers } = snapshot;
  return [run, successor, ...leftovers].flatMap((one) => one === null ? [] : [one.runId]);
}

/** Posts to each process what became of its run: alive, ended, or never launched. */
async function recoverAll(processes: readonly ManagedProcess[], traces: Traces): Promise<void> {
  const lost = processes.some(({ snapshot: { run } }) => run !== null && !isAlive(run));
  const looked = lost || processes.some(mayRunCommands);
  const byRunId = looked ? await processesByRunId() : new Map<string, number[]>();
  // Dependencies first: processes that wait for them read their state.
  for (const process of inWaves(processes).flat()) {
    const found = find(process, traces, byRunId);
    const input: Recovered = { type: "recovered", at: process.clock.now(), found };
    endCommands(process, commandsOf(process, input), byRunId.get(process.id) ?? []);
    process.post(input);
  }
}

/** Whether the earlier daemon may have been waiting for a command that runs again. */
function mayRunCommands({ config: { hooks, healthCheck }, snapshot }: ManagedProcess): boolean {
  const { state, run, requestStep, leftovers } = snapshot;
  const isAtWork = state === "starting" || state === "stopping" || requestStep !== null ||
    leftovers.length > 0;
  return isAtWork && Object.keys(hooks).length > 0 ||
    healthCheck?.type === "command" && run !== null;
}

/** Events of its health check, and of the hooks that its effects run again. */
function commandsOf(process: ManagedProcess, input: Recovered): string[] {
  const { snapshot, config: { healthCheck } } = process;
  const [, effects] = transition(snapshot, input, (generation) => process.specOf(generation));
  const isChecked = healthCheck?.type === "command" && snapshot.run !== null;
  const hooks = effects.flatMap((effect) => hookWithin(effect) ?? []).map(snakeCase);
  return isChecked ? [HEALTH_CHECK_EVENT, ...hooks] : hooks;
}

/**
 * Kills these commands: hooks run again with their start, stop or restart by the clock, and checks
 * in their interval. Other hooks continue, and so do background processes of an earlier hook. Those
 * have the same environment, but are older than the last start or exit.
 */
function endCommands(
  process: ManagedProcess,
  events: readonly string[],
  hookPids: readonly number[],
): void {
  if (events.length === 0) return;
  const { clock, snapshot: { startedAt, lastExit } } = process;
  const since = Math.max(startedAt ?? 0, lastExit?.at.getTime() ?? 0);
  const oldestMs = clock.now() - since + AGE_ERROR_MS;
  for (const pid of hookPids) {
    const row = processRow(pid);
    if (row === undefined || (ageOf(row) ?? 0) > oldestMs) continue;
    if (!events.includes(hookEventOf(pid) ?? "")) continue;
    if (row.pgid === pid || willLead(row)) killOwnSession(pid);
  }
}

/** Removes files in the run folder that belong to no recorded run. */
function removeStaleRunFiles(processes: readonly ManagedProcess[], files: RunFiles): void {
  const known = new Set(processes.flatMap(runIdsOf));
  for (const runId of files.list()) if (!known.has(runId)) files.remove(runId);
}

function isAlive(run: Run): boolean {
  return run.wrapperPid > 0 && wrapperAlive(run);
}

function find(
  process: ManagedProcess,
  { files, launcher, rebooted, halted }: Traces,
  byRunId: ReadonlyMap<string, readonly number[]>,
): Recovered["found"] {
  const { run, pid } = process.snapshot;
  const afterBoot: Recovered["found"] = {
    kind: "rebooted",
    autostart: process.config.autostart && !isJob(process),
  };
  // Compare the boot of each run: a recovery that was killed half-way leaves runs of both boots.
  if (run === null ? rebooted : run.bootId !== launcher.bootId) return afterBoot;
  if (run === null) return { kind: "no_run" };
  const ageMs = ageOf({ start: run.wrapperStart });
  const appPid = pid || (files.read(run.runId, "pid") ?? 0);
  if (isAlive(run)) return { kind: "alive", run, pid: appPid, ageMs };
  if (!halted && files.read(run.runId, "exit") !== undefined) {
    return { kind: "ended", exit: launcher.exitOf(run.runId), random: Math.random(), ageMs };
  }
  const orphan = orphanOf(run, byRunId.get(run.runId) ?? [], launcher.bootId);
  if (orphan !== undefined) return { kind: "alive", run: orphan, pid: appPid, ageMs };
  if (halted) return afterBoot;
  // The start was recorded, but nothing was launched.
  if (run.wrapperPid === 0 && appPid === 0) return { kind: "no_run" };
  return { kind: "ended", exit: launcher.exitOf(run.runId), random: Math.random(), ageMs };
}

/** A run whose daemon was killed between the spawn and its record, found by its environment. */
export function orphanOf(run: Run, pids: readonly number[], bootId: string): Run | undefined {
  const rows = pids.flatMap((pid) => processRow(pid) ?? []);
  if (rows.length === 0) return undefined;
  const [oldest] = rows;
  const wrapperPid = run.wrapperPid || (willLead(oldest!) ? oldest!.pid : oldest!.pgid);
  const leader = processRow(wrapperPid);
  // A wrapper is older than all processes it started. A younger one only has the same pid or group.
  const isWrapper = rows.every(({ start }) => Number(leader?.start) <= Number(start));
  return { ...run, wrapperPid, wrapperStart: isWrapper ? leader!.start : "", bootId };
}

/**
 * Adds a living run that is in no record to the record of its process. A missing one is rebuilt from
 * the saved list, or from the wrapper process with default settings. Returns a message for the log.
 */
function takeUpLost(
  records: Map<string, ProcessRecord>,
  found: FoundRun,
  saved: readonly ProcessRecord[],
  rebuild: (found: FoundRun) => ProcessRecord,
): string {
  const { name } = found;
  const known = records.get(name);
  const listed = saved.find(({ identity }) => identity.name === name);
  const record = known ?? (listed && { ...listed, snapshot: NEW }) ?? rebuild(found);
  records.set(name, { ...record, snapshot: withRun(record.snapshot, found) });
  const source = known ? "its older record" : listed ? "the saved list" : "its process alone";
  return `"${name}" runs without a record: recovered from ${source}`;
}

/** Adds a run to a snapshot. Beside a living run it is a leftover of an unfinished start. */
function withRun(now: Snapshot, { run, pid, startedAt }: FoundRun): Snapshot {
  if (now.run !== null && wrapperAlive(now.run)) {
    return { ...now, leftovers: [...now.leftovers, run] };
  }
  return {
    ...now,
    state: "running",
    desired: "up",
    ready: true,
    attempt: now.attempt + 1,
    leftovers: leftBy(now),
    run,
    pid,
    startedAt,
  };
}

/** A record rebuilt from a wrapper process, which does not show the restart settings. */
function rebuilt(
  found: FoundRun,
  numericId: number,
  inherited: Readonly<Record<string, string>>,
): ProcessRecord {
  const { name, env, startedAt } = found;
  const instanceIndex = Number(env.PROCSUP_INSTANCE ?? 0);
  return {
    identity: {
      id: crypto.randomUUID(),
      numericId,
      name,
      instanceIndex,
      createdAt: new Date(startedAt),
    },
    config: rebuiltConfig(found, inherited),
    snapshot: NEW,
  };
}

function rebuiltConfig(
  { name, command: [entrypoint, ...args], cwd, env, user, run }: FoundRun,
  inherited: Readonly<Record<string, string>>,
): ProcessConfig {
  const own = Object.entries(env).filter(([key, value]) =>
    !key.startsWith("PROCSUP_") && key !== "PWD" && inherited[key] !== value
  );
  return parseConfig({
    name: env.PROCSUP_BASE_NAME ?? name,
    namespace: env.PROCSUP_NAMESPACE ?? "default",
    env: Object.fromEntries(own),
    ...user,
    entrypoint,
    args,
    cwd,
    ...(run.logs && { log: run.logs }),
  });
}
