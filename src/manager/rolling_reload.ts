/** Reloads the instances of a process batch by batch, and can roll back if one fails. */

import type { RollingOptions as Batches } from "../library/options.ts";
import { ProcsupError } from "../model/errors.ts";
import { wireKeys } from "../model/key_spelling.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { PendingRequest } from "../model/process_state.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { refuseEndless, type UpOptions } from "../process/process_handle.ts";
import { type Outcome, runBulk, stoppedSince, throwFirst } from "./bulk.ts";
import { configChanges } from "../model/config_diff.ts";
import type { Registry } from "./registry.ts";

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
 * one is ready, so that the others serve meanwhile. After a failure the rest stay unchanged.
 */
export async function reloadAll(
  registry: Registry,
  processes: readonly ManagedProcess[],
  { wait, ...options }: UpOptions,
): Promise<Outcome[]> {
  const request = reloadTo(undefined);
  if (processes.length > 1) registry.putOnRecord(processes, request);
  const byName = Map.groupBy(processes, ({ config }) => config.name);
  const rolled = [...byName.values()].map((instances) => {
    const how = { ...options, waitReady: wait ?? instances.length > 1 };
    return rollingReload(registry, instances, how, request);
  });
  return (await Promise.all(rolled)).flatMap(({ outcomes }) => outcomes);
}

/** A new request: of two equal ones at once, the end of the first leaves the second on record. */
function reloadTo(config: ProcessConfig | undefined): PendingRequest {
  return { verb: "reload", ...config && { config: wireKeys(config) } };
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
 * meanwhile stays down, and has no outcome if that was before its turn. If the daemon is killed
 * half-way, the next one goes on.
 */
export async function rollingReload(
  registry: Registry,
  processes: readonly ManagedProcess[],
  options: RollingOptions,
  request = reloadTo(options.config),
): Promise<RollingResult> {
  const size = batchCount(options.batchSize ?? 1, processes.length);
  const { config } = options;
  const before = new Map(processes.map((process) => [process, process.config]));
  const wasAsked = stoppedSince(processes);
  // Neither those started again nor deleted ones.
  const isStopped = (process: ManagedProcess) =>
    wasAsked(process) && process.snapshot.desired === "down" && !process.isLeaving;
  const touched: ManagedProcess[] = [];
  const outcomes: Outcome[] = [];
  if (processes.length > 1) registry.putOnRecord(processes, request);
  while (touched.length < processes.length && !hasFailed(outcomes)) {
    const batch = processes.slice(touched.length, touched.length + size);
    touched.push(...batch);
    const stopped = new Set(batch.filter(isStopped));
    const done = await runBulk(batch, async (process) => {
      if (!stopped.has(process)) {
        await process.whilePending(request, () => reload(process, options));
      } else if (config !== undefined && isLatest(process, config)) process.reconfigure(config);
    });
    outcomes.push(...done.filter(({ process, error }) => error || !stopped.has(process)));
  }
  const isOurs = (process: ManagedProcess) => isLatest(process, config) && !process.isLeaving;
  const isBack = options.rollbackOnFailure && hasFailed(outcomes);
  // Those that failed come first: they serve no requests.
  const back = isBack ? touched.filter(isOurs).toReversed() : [];
  const requests = new Map(
    back.filter((process) => isToPutBack(process, config))
      .map((process) => [process, reloadTo(before.get(process))]),
  );
  registry.recorder.together(() => {
    for (const process of processes) process.drop(request);
    for (const [process, request] of requests) registry.putOnRecord([process], request);
  });
  for (let at = 0; at < back.length; at += size) {
    // A later request may have come meanwhile.
    await runBulk(back.slice(at, at + size).filter(isOurs), async (process) => {
      await putBack(process, before.get(process)!, options, isStopped(process));
    });
  }
  for (const [process, request] of requests) process.drop(request);
  return { outcomes, rolledBack: back.length > 0 };
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

async function reload(process: ManagedProcess, options: RollingOptions): Promise<void> {
  const { config, askedIn, waitReady } = options;
  refuseEndless("reload", process, { askedIn });
  const later = madeByLater(process, config);
  if (later !== undefined) return await later;
  const reloading = reloadOne(process, config, waitReady);
  if (config !== undefined) {
    changes.set(process, reloading);
    const forget = () => {
      if (changes.get(process) === reloading) changes.delete(process);
    };
    reloading.then(forget, forget);
  }
  await reloading;
}

async function reloadOne(
  process: ManagedProcess,
  config: ProcessConfig | undefined,
  wait = true,
): Promise<void> {
  await (config === undefined ? process.reload({ wait }) : process.replaceWith(config, { wait }));
}

/** Undoes a failed reload of a process that had the configuration `before`. */
export async function putBack(
  process: ManagedProcess,
  before: ProcessConfig,
  { config: failed, waitReady: wait = true }: RollingOptions,
  isStopped: boolean,
): Promise<void> {
  if (!isToPutBack(process, failed)) return;
  const config = failed === undefined ? process.config : before;
  if (isStopped) return process.reconfigure(config);
  const how = { wait, reason: "rolled back" };
  await (failed === undefined ? process.restart(how) : process.replaceWith(config, how));
}

/** False if its old run goes on: the new one did not come up beside it. */
function isToPutBack(process: ManagedProcess, failed: ProcessConfig | undefined): boolean {
  return failed === undefined ? process.snapshot.state !== "running" : process.wasGiven(failed);
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
