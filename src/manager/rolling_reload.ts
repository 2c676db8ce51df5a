/** Reloads the instances of a process batch by batch, and can roll back if one fails. */

import type { RollingOptions as Batches } from "../library/options.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { refuseEndless, type UpOptions } from "../process/process_handle.ts";
import { type Outcome, runBulk, stoppedSince, throwFirst } from "./bulk.ts";
import { configChanges } from "./config_diff.ts";

export interface RollingOptions extends Omit<Batches, "signal">, Pick<UpOptions, "askedIn"> {
  /** The new configuration; default: the current one. */
  readonly config?: ProcessConfig;
}

export interface RollingResult {
  readonly outcomes: readonly Outcome[];
  readonly rolledBack: boolean;
}

/**
 * Reloads processes. Instances of one process reload one after the other, each once the previous
 * one is ready, so that the others serve meanwhile. After a failure the rest stay unchanged, and
 * their requests on record are dropped.
 */
export async function reloadAll(
  processes: readonly ManagedProcess[],
  { wait, ...options }: UpOptions,
): Promise<Outcome[]> {
  const requests = processes.map(({ snapshot: { pending } }) => pending);
  const byName = Map.groupBy(processes, ({ config }) => config.name);
  const rolled = [...byName.values()].map((instances) =>
    rollingReload(instances, { ...options, waitReady: wait ?? instances.length > 1 })
  );
  const results = await Promise.all(rolled);
  processes.forEach((process, index) => {
    const request = requests[index];
    if (request?.verb === "reload") process.drop(request);
  });
  return results.flatMap(({ outcomes }) => outcomes);
}

/** A request to change the configuration of some processes. */
interface Change {
  readonly config: ProcessConfig;
  /** The result for those that it reloads. */
  readonly outcomes: Promise<readonly Outcome[]>;
}

/** The latest change of each process. It supersedes earlier ones. */
const latest = new WeakMap<ManagedProcess, Change>();

/**
 * Supersedes earlier requests that still change the configuration of these processes. Call the
 * returned function with the result, for which earlier requests for the same change wait.
 */
export function supersede(
  processes: readonly ManagedProcess[],
  config: ProcessConfig,
): (outcomes: Promise<readonly Outcome[]> | readonly Outcome[]) => void {
  const { promise, resolve } = Promise.withResolvers<readonly Outcome[]>();
  // The failure is reported by the request itself.
  promise.catch(() => {});
  for (const process of processes) latest.set(process, { config, outcomes: promise });
  return resolve;
}

/**
 * Reloads batch by batch; stops at the first batch that fails. A batch also fails if a later request
 * changes its configuration, but not because a process of it is deleted. A process that is stopped
 * meanwhile stays down, and has no outcome if that was before its turn.
 */
export async function rollingReload(
  processes: readonly ManagedProcess[],
  options: RollingOptions,
): Promise<RollingResult> {
  const size = batchCount(options.batchSize ?? 1, processes.length);
  const wait = options.waitReady ?? true;
  const before = new Map(processes.map((process) => [process, process.config]));
  const wasAsked = stoppedSince(processes);
  // Neither those started again nor deleted ones.
  const isStopped = (process: ManagedProcess) =>
    wasAsked(process) && process.snapshot.desired === "down" && !process.isLeaving;
  const touched: ManagedProcess[] = [];
  const outcomes: Outcome[] = [];
  for (let at = 0; at < processes.length; at += size) {
    const batch = processes.slice(at, at + size).filter((process) => !isStopped(process));
    touched.push(...batch);
    outcomes.push(
      ...await runBulk(batch, async (process) => {
        try {
          await reloadTo(process, options, wait);
        } catch (error) {
          // The configuration of a run that goes on is set again already. Asked at once: one that
          // failed may be restarted while its last output is read.
          if (process.snapshot.state === "running") before.set(process, process.config);
          throw error;
        }
      }),
    );
    if (!hasFailed(outcomes)) continue;
    if (!options.rollbackOnFailure) return { outcomes, rolledBack: false };
    // Those that failed come first: they serve no requests.
    const old = touched
      .filter((process) => isLatest(process, options.config) && !process.isLeaving).toReversed();
    for (let back = 0; back < old.length; back += size) {
      await runBulk(
        old.slice(back, back + size),
        (process) =>
          putBack(process, before.get(process)!, { wait, restarts: !isStopped(process) }),
      );
    }
    return { outcomes, rolledBack: old.length > 0 };
  }
  return { outcomes, rolledBack: false };
}

/** True if a process failed that is not being deleted. */
export function hasFailed(outcomes: readonly Outcome[]): boolean {
  return outcomes.some(({ error, process }) => error !== undefined && !process.isLeaving);
}

/** True if no later request changes the configuration of the process. */
export function isLatest(process: ManagedProcess, config: ProcessConfig | undefined): boolean {
  return config === undefined || (latest.get(process)?.config ?? config) === config;
}

/**
 * Resolves when a later request has made the same change, and rejects if that fails; undefined if
 * there is no later one. Throws `wrong_state` if it makes another change, and for a process that is
 * leaving.
 */
export function madeByLater(
  process: ManagedProcess,
  config: ProcessConfig | undefined,
): Promise<void> | undefined {
  if (!process.isLeaving) {
    if (isLatest(process, config)) return undefined;
    const later = latest.get(process)!;
    if (configChanges(later.config, config!).length === 0) return madeBy(later, process);
  }
  const why = process.isLeaving
    ? "it was deleted meanwhile"
    : "a later request changes its configuration";
  throw new ProcsupError("wrong_state", `Cannot reload "${process.name}": ${why}`);
}

async function madeBy({ outcomes }: Change, process: ManagedProcess): Promise<void> {
  const all = await outcomes;
  throwFirst(all.filter((outcome) => outcome.process === process));
  const tried = all.some((outcome) => outcome.process === process);
  if (tried || !hasFailed(all)) return;
  const why = "a later request that makes the same change has failed";
  throw new ProcsupError("wrong_state", `Cannot reload "${process.name}": ${why}`);
}

/** The change of configuration that is in progress on each process. */
const changes = new WeakMap<ManagedProcess, Promise<void>>();

/** Settles like the reload to another configuration that is in progress; undefined if none is. */
export function changeInProgress(process: ManagedProcess): Promise<void> | undefined {
  return changes.get(process);
}

async function reloadTo(
  process: ManagedProcess,
  options: RollingOptions,
  wait: boolean,
): Promise<void> {
  const { config, askedIn } = options;
  refuseEndless("reload", process, { askedIn });
  const later = madeByLater(process, config);
  if (later !== undefined) return await later;
  const reload = reloadOne(process, config, wait);
  if (config !== undefined) {
    changes.set(process, reload);
    const forget = () => {
      if (changes.get(process) === reload) changes.delete(process);
    };
    reload.then(forget, forget);
  }
  await reload;
}

async function reloadOne(
  process: ManagedProcess,
  config: ProcessConfig | undefined,
  wait: boolean,
): Promise<void> {
  const old = process.config;
  if (config !== undefined) process.reconfigureForReload(config);
  try {
    // A reload signal cannot change the environment or the command line.
    const stays = config !== undefined && config.reloadSignal !== undefined;
    await (stays
      ? process.restart({ wait, reason: "reloaded by user" })
      : process.reload({ wait }));
  } catch (error) {
    // With overlap the old run goes on, with the old configuration.
    const keepsRun = process.snapshot.state === "running";
    if (keepsRun && config !== undefined) process.keepRun(config, old);
    throw error;
  }
}

async function putBack(
  process: ManagedProcess,
  config: ProcessConfig,
  { wait, restarts }: { readonly wait: boolean; readonly restarts: boolean },
): Promise<void> {
  if (process.config === config && process.snapshot.state === "running") return;
  if (!restarts) return process.reconfigure(config);
  process.reconfigureForReload(config);
  const overlaps = config.overlap && config.reloadSignal === undefined &&
    process.snapshot.state === "running";
  await (overlaps ? process.reload({ wait }) : process.restart({ wait, reason: "rolled back" }));
}

/** `"25%"` of 10 → 3: at least one, at most all. Throws `bad_request` with the value. */
export function batchCount(batchSize: number | string, instances: number): number {
  const most = Math.max(1, instances);
  const percent = /^(\d+)%$/.exec(String(batchSize))?.[1];
  const wanted = percent === undefined
    ? Number(batchSize)
    : Math.ceil(Number(percent) / 100 * most);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= most) return wanted;
  throw new ProcsupError(
    "bad_request",
    `Invalid "batch_size" ${JSON.stringify(batchSize)}: expected a number from 1 to ${most}, ` +
      'or a part such as "25%"',
  );
}
