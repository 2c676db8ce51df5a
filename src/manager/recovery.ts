/** Adopts the processes of the previous daemon, and rebuilds lost records of apps that still run. */

import { type App, generationOf, newApp, wantedConfig, withCount } from "../model/app.ts";
import { parseConfig } from "../model/config_schema.ts";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import type { LogPaths } from "../model/log_paths.ts";
import { literally } from "../model/plain_text.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NEW, type Recovered, type Run, type Snapshot } from "../model/process_state.ts";
import { snakeCase } from "../model/key_table.ts";
import { hookWithin, transition } from "../model/transition.ts";
import { leftBy } from "../model/transition_steps.ts";
import { dirname } from "@std/path";
import { findRuns, type FoundRun, homeElsewhere } from "../platform/scan/found_runs.ts";
import type { Launcher } from "../platform/launch/launcher.ts";
import { killOwnSession, willLead } from "../platform/launch/child_process.ts";
import type { HomePaths } from "../platform/files/paths.ts";
import { hookEventOf } from "../platform/scan/process_environment.ts";
import { isInGroup, wrapperAlive } from "../platform/scan/process_group.ts";
import { processesByRunId } from "../platform/scan/process_scan.ts";
import { ageOf, processRow } from "../platform/scan/process_table.ts";
import type { RunFiles } from "../platform/launch/run_files.ts";
import { readState, writeState } from "../platform/files/state_file.ts";
import { HEALTH_CHECK_EVENT } from "../process/health_monitor.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { inWaves, isJob } from "./bulk.ts";
import type { FoundRecords, ProcessRecord } from "./records.ts";
import type { Registry, Warn } from "./registry.ts";
import type { RetriedWrites } from "../platform/files/retried_writes.ts";
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
  const lost = new LostRecords(registry, onRecord, () => loadState(paths.saved), world.inherited);
  const taken = found.map((run) => lost.takeUp(run));
  const { apps, records } = lost.completed(found);
  for (const problem of [...onRecord.problems, ...boot.problems, ...taken]) warn(problem);
  // They act once every process has been recovered: see `completeRequests()`.
  for (const app of apps) registry.restoreApp(app).hold();
  const processes = records.map((record) => registry.restore(record));
  if (found.length > 0 || lost.any) registry.recordAnew();
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
      hint: { text: "Start the saved apps in a new home", command: { verb: "resurrect" } },
    });
  }
}

/** Records the boot that the records belong to. */
export function recordBoot(writes: RetriedWrites, path: string, bootId: string): void {
  writes.attempt("the identity of the boot", () => writeState(path, bootId));
}

/** Living runs that are in no record. Searches only if a record may have been lost. */
async function lostRuns(
  { apps, records, problems }: FoundRecords,
  files: RunFiles,
  bootId: string,
): Promise<FoundRun[]> {
  const named = new Set(apps.map(({ name }) => name));
  const whole = records.filter(({ identity: { app } }) => named.has(app));
  const known = new Set(whole.flatMap(runIdsOf));
  const mayBeLost = records.length === 0 || problems.length > 0 || whole.length < records.length ||
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
    const input: Recovered = { type: "recovered", at: process.machine.world.clock.now(), found };
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
  const { machine: { world: { clock } }, snapshot: { startedAt, lastExit } } = process;
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
  const { run, pid, state } = process.snapshot;
  const afterBoot: Recovered["found"] = {
    kind: "rebooted",
    autostart: process.config.autostart && !isJob(process),
  };
  // Compare the boot of each run: a recovery that was killed half-way leaves runs of both boots.
  if (run === null ? rebooted : run.bootId !== launcher.bootId) return afterBoot;
  if (run === null) return { kind: "no_run" };
  const ageMs = ageOf({ start: run.wrapperStart });
  const appPid = files.read(run.runId, "pid") ?? pid;
  if (isAlive(run) || isInGroup(appPid, run)) return { kind: "alive", run, pid: appPid, ageMs };
  const newPid = state === "stopping" ? undefined : launcher.handOver(run);
  if (newPid !== undefined) return { kind: "alive", run, pid: newPid, ageMs };
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

/** Completes records of which parts were lost: from the saved list, and from processes alone. */
class LostRecords {
  readonly #registry: Registry;
  readonly #apps: Map<string, App>;
  readonly #records: Map<string, ProcessRecord>;
  readonly #load: () => Pick<FoundRecords, "apps" | "records">;
  readonly #inherited: Readonly<Record<string, string>>;
  #saved: Pick<FoundRecords, "apps" | "records"> | undefined;

  constructor(
    registry: Registry,
    { apps, records }: FoundRecords,
    load: () => Pick<FoundRecords, "apps" | "records">,
    inherited: Readonly<Record<string, string>>,
  ) {
    this.#registry = registry;
    this.#apps = new Map(apps.map((app) => [app.name, app]));
    this.#records = new Map(records.map((record) => [record.identity.name, record]));
    this.#load = load;
    this.#inherited = inherited;
  }

  get #list(): Pick<FoundRecords, "apps" | "records"> {
    return this.#saved ??= this.#load();
  }

  /** Whether anything was lost. */
  get any(): boolean {
    return this.#saved !== undefined;
  }

  /**
   * Adds a living run that is in no record to the record of its process. A missing one is rebuilt
   * from the saved list, or from the wrapper process with default settings. Returns a message for
   * the log.
   */
  takeUp(found: FoundRun): string {
    const { name, run: { runId } } = found;
    const known = this.#records.get(name);
    const listed = this.#list.records.find(({ identity }) => identity.name === name);
    const record = known ?? (listed && { ...listed, snapshot: NEW }) ??
      rebuilt(found, this.#registry.takeNumericId());
    const isOnRecord = known !== undefined && runIdsOf(known).includes(runId);
    const snapshot = isOnRecord ? known.snapshot : withRun(record.snapshot, found);
    this.#records.set(name, { ...record, snapshot });
    const source = known ? "its older record" : listed ? "the saved list" : "its process alone";
    return `"${name}" runs without a record: recovered from ${source}`;
  }

  /** All records, each with its app. Those without a configuration are set aside. */
  completed(found: readonly FoundRun[]): Pick<FoundRecords, "apps" | "records"> {
    const byApp = Map.groupBy(this.#records.values(), ({ identity: { app } }) => app);
    const records: ProcessRecord[] = [];
    for (const [name, its] of byApp) {
      const app = this.#apps.get(name) ?? this.#rebuiltApp(name, its, found);
      if (app === undefined) {
        for (const record of its) this.#registry.giveUp(record, `the record of "${name}" is lost`);
        continue;
      }
      if (this.#apps.has(name)) records.push(...its);
      else {
        this.#apps.set(name, app);
        const generation = generationOf(app);
        records.push(...its.map((one) => ({ ...one, snapshot: { ...one.snapshot, generation } })));
      }
    }
    const apps: App[] = [];
    for (const app of this.#apps.values()) {
      if (byApp.has(app.name)) apps.push(app);
      // A daemon was killed while it removed the last instance.
      else this.#registry.discard(app);
    }
    return { apps, records };
  }

  #rebuiltApp(
    name: string,
    records: readonly ProcessRecord[],
    found: readonly FoundRun[],
  ): App | undefined {
    const saved = this.#list.apps.find((app) => app.name === name);
    const runs = found.filter((run) => records.some(({ identity }) => identity.name === run.name));
    const config = saved ? wantedConfig(saved) : rebuiltConfig(runs, this.#inherited);
    if (config === undefined) return undefined;
    const generation = Math.max(...records.map(({ snapshot }) => snapshot.generation));
    const app = withCount(newApp(config), records.length);
    return { ...app, specs: [{ generation, config: wantedConfig(app) }], stable: generation };
  }
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
function rebuilt({ name, env, startedAt }: FoundRun, numericId: number): ProcessRecord {
  return {
    identity: {
      id: crypto.randomUUID(),
      numericId,
      app: env.PROCSUP_BASE_NAME ?? name,
      name,
      instanceIndex: Number(env.PROCSUP_INSTANCE ?? 0),
      createdAt: new Date(startedAt),
    },
    snapshot: NEW,
  };
}

/** The configuration that the runs of an app show. */
function rebuiltConfig(
  runs: readonly FoundRun[],
  inherited: Readonly<Record<string, string>>,
): ProcessConfig | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const { name, command: [entrypoint, ...args], cwd, env, user } = first;
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
    log: { stdout: logTemplate(runs, "stdout"), stderr: logTemplate(runs, "stderr") },
  });
}

/** The path from which the paths of several instances come; undefined if there is none. */
function logTemplate(runs: readonly FoundRun[], stream: keyof LogPaths): string | undefined {
  const paths = runs.map(({ env, run }) => ({
    index: env.PROCSUP_INSTANCE ?? "0",
    path: run.logs?.[stream],
  }));
  const [{ index, path: first }, ...others] = paths as [typeof paths[0], ...typeof paths];
  if (first === undefined || others.length === 0) return first;
  const at = [...first.matchAll(new RegExp(literally(index), "g"))].map((match) => match.index);
  return at.map((from) => `${first.slice(0, from)}{instance}${first.slice(from + index.length)}`)
    .find((template) =>
      others.every(({ index, path }) => template.replaceAll("{instance}", index) === path)
    );
}
