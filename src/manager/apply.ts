/** Applies configuration files to processes, with as few restarts as possible. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { PendingRequest } from "../model/process_state.ts";
import { refuseNeverMet, startWaves } from "../model/start_order.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { sleep } from "../platform/clock.ts";
import { contentChanges } from "../process/environment.ts";
import { takenSockets } from "../process/launch_setup.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import {
  asProcsupError,
  isJob,
  isKeptUp,
  isReplaced,
  ordered,
  type Outcome,
  runBulk,
  starter,
  stoppedSince,
  whatStayedUp,
} from "./bulk.ts";
import { type FieldChange, needsRestart } from "../model/config_diff.ts";
import { type Purpose, refuseTaken, takenLogs } from "./check_config.ts";
import { firstChanges, reloadWith } from "./reconfigure.ts";
import { changeInProgress, hasFailed, isLatest, supersede } from "./rolling_reload.ts";
import { scale } from "./scale.ts";
import type { Supervisor } from "./supervisor.ts";

/** A process whose configuration changes. */
interface ConfigChange {
  readonly config: ProcessConfig;
  readonly fields: readonly FieldChange[];
  /** Whether running instances are replaced. */
  readonly restarts: boolean;
  /** Whether running instances are stopped: they become a job. */
  readonly stops: boolean;
  /** Whether instances are started that were a job between its runs. */
  readonly starts: boolean;
}

/** The changes to make. */
export interface ApplyPlan {
  readonly added: readonly ProcessConfig[];
  readonly changed: readonly ConfigChange[];
  /** Names of processes that match the configuration. */
  readonly unchanged: readonly string[];
  /** Names of processes that are no longer in the files. */
  readonly gone: readonly string[];
  /** All configurations of the files, checked. */
  readonly configs: ReadonlyMap<string, ProcessConfig>;
  /** The same in the order in which they are applied. */
  readonly waves: readonly (readonly ProcessConfig[])[];
  /** Whether a process was stopped since the plan was begun: it stays down. */
  readonly isStopped: (process: ManagedProcess) => boolean;
}

export interface ApplyOptions {
  /** Remove processes that are no longer in the files. */
  readonly prune?: boolean;
  /** Also start unchanged processes that are down. */
  readonly startDown?: boolean;
  /** Wait until each has stayed up. */
  readonly wait?: boolean | undefined;
}

interface PlanOptions extends Pick<ApplyOptions, "prune"> {
  /** `look` for a plan that is only shown: it runs nothing. */
  readonly purpose?: Purpose;
}

/**
 * Compares configurations with existing processes. `mine` are names of processes that came from the
 * same files. Throws `invalid_config` if one could not be started, before any change.
 */
export async function planApply(
  supervisor: Supervisor,
  wanted: readonly ProcessConfig[],
  mine: Iterable<string> = [],
  { prune = false, purpose = "start" }: PlanOptions = {},
): Promise<ApplyPlan> {
  supervisor.registry.refuseClosed();
  const leaving = new Set([...wanted.map(({ name }) => name), ...prune ? mine : []]);
  const isStopped = stoppedSince(supervisor.registry.list());
  const present = supervisor.registry.list().map(({ config }) => config);
  const kept = present.filter(({ name }) => !leaving.has(name));
  const configs = await checkAll(supervisor, wanted, kept, purpose);
  const there = Map.groupBy(supervisor.registry.list(), ({ config }) => config.name);
  const added: ProcessConfig[] = [];
  const changed: ConfigChange[] = [];
  const unchanged: string[] = [];
  for (const config of configs.values()) {
    const instances = there.get(config.name);
    if (instances === undefined) {
      added.push(config);
      continue;
    }
    const fields = changesTo(instances, config);
    if (fields.length === 0) unchanged.push(config.name);
    else {
      const replaced = needsRestart(fields) &&
        instances.some((process) => isReplaced(process, config));
      const becomesJob = config.cron !== undefined;
      const [restarts, stops] = [replaced && !becomesJob, replaced && becomesJob];
      const starts = config.autostart && !becomesJob &&
        instances.some((process) => isScheduled(supervisor, process));
      changed.push({ config, fields, restarts, stops, starts });
    }
  }
  const gone = [...mine].filter((name) => there.has(name) && !configs.has(name));
  const waves = applyWaves([...configs.values()], present.filter(({ name }) => configs.has(name)));
  return { added, changed, unchanged, gone, configs, waves, isStopped };
}

/** Whether it is a job between its runs whose schedule is enabled. */
function isScheduled({ scheduler }: Supervisor, process: ManagedProcess): boolean {
  const { config: { cron }, snapshot } = process;
  if (cron === undefined || snapshot.run !== null) return false;
  return !cron.enabled || scheduler.list([process]).some(({ enabled }) => enabled);
}

/** Dependencies come first, and so do processes that give up a socket or a log for another one. */
function applyWaves(
  configs: readonly ProcessConfig[],
  present: readonly ProcessConfig[],
): ProcessConfig[][] {
  const giversTo = (config: ProcessConfig) =>
    [...takenSockets(config, present), ...takenLogs(config, present)].map(({ owner }) => owner);
  try {
    return startWaves(configs, (config) => {
      const { dependsOn, ...rest } = ordered(config);
      return { ...rest, dependsOn: [...dependsOn, ...giversTo(config)] };
    });
  } catch (error) {
    const cycle = messageOf(error).replace(/^.*: /, "");
    throw new ProcsupError("invalid_config", `Sockets or logs move in a circle: ${cycle}`, {
      hint: "Apply it in two steps: first without these sockets and logs",
    });
  }
}

/** The changes of existing instances, also of their number: one may have been deleted. */
function changesTo(
  instances: readonly ManagedProcess[],
  config: ProcessConfig,
): readonly FieldChange[] {
  const fields = [...firstChanges(instances, config), ...changedContents(instances)];
  const from = shownCount(instances, config) ?? instances.length;
  if (from === config.instances) return fields;
  return [...fields, { field: "instances", from, to: config.instances }];
}

/** What the files of the instances that run set now, and did not at their launch. */
function changedContents(instances: readonly ManagedProcess[]): readonly FieldChange[] {
  return instances.filter((process) => isKeptUp(process)).map(({ config, snapshot }) =>
    contentChanges(config, snapshot.run?.contents)
  ).find((changes) => changes.length > 0) ?? [];
}

/** Another number of instances that one of them shows. */
function shownCount(
  instances: readonly ManagedProcess[],
  wanted: ProcessConfig,
): number | undefined {
  return instances.map(({ config }) => config.instances)
    .find((count) => count !== wanted.instances);
}

async function checkAll(
  supervisor: Supervisor,
  wanted: readonly ProcessConfig[],
  kept: readonly ProcessConfig[],
  purpose: Purpose,
): Promise<Map<string, ProcessConfig>> {
  const configs = new Map<string, ProcessConfig>();
  const problems: ProcsupError[] = [];
  for (const [index, config] of wanted.entries()) {
    // Yield, so that the daemon can serve others.
    if (index % 16 === 15) await sleep(0);
    try {
      await supervisor.check(config, [...kept, ...configs.values()], purpose);
      configs.set(config.name, config);
    } catch (error) {
      problems.push(asProcsupError(error));
    }
  }
  const known = new Set([...wanted, ...kept].map(({ name }) => name));
  for (const { name, dependsOn } of configs.values()) {
    for (const dependency of Object.keys(dependsOn)) {
      if (known.has(dependency)) continue;
      const what = `"${name}" depends on "${dependency}", which does not exist`;
      problems.push(new ProcsupError("invalid_config", what));
    }
  }
  if (problems.length > 0) throw refusal(problems);
  refuseNeverMet([...configs.values(), ...kept]);
  startWaves([...configs.values(), ...kept], ordered);
  return configs;
}

function refusal([first, ...more]: readonly ProcsupError[]): ProcsupError {
  const { message, hint } = first!;
  return new ProcsupError(
    "invalid_config",
    message + (more.length > 0 ? ` (and ${more.length} more)` : ""),
    { hint: more.length > 0 ? more.map(({ message }) => message).join("; ") : hint },
  );
}

/** The result of a plan. */
interface Applied {
  readonly outcomes: readonly Outcome[];
  /** All errors, including those of processes that could not be registered. */
  readonly errors: readonly string[];
}

/** The state of a plan before the first start. */
interface Registered extends Applied {
  /** The instances of each new process; none if it could not be registered. */
  readonly added: ReadonlyMap<ProcessConfig, readonly ManagedProcess[]>;
}

/**
 * Removes processes that are no longer in the files, and registers new ones. Throws `closed` during a
 * shutdown.
 */
export async function register(
  supervisor: Supervisor,
  plan: ApplyPlan,
  { prune = false }: Pick<ApplyOptions, "prune">,
): Promise<Registered> {
  const errors: string[] = [];
  const outcomes = prune
    ? await supervisor.removeApps(new Set(plan.gone), "no longer in the configuration")
    : [];
  supervisor.registry.refuseClosed();
  const added = new Map<ProcessConfig, readonly ManagedProcess[]>();
  const others = supervisor.registry.list().map(({ config }) => config)
    .filter(({ name }) => !plan.configs.has(name));
  // Register all first, so that lists show processes that are still to be started.
  const isNew = new Set(plan.added);
  supervisor.registry.recorder.together(() => {
    for (const config of plan.waves.flat().filter((config) => isNew.has(config))) {
      try {
        refuseTaken(config, others);
        added.set(config, supervisor.registry.add(config, { start: config.autostart }));
      } catch (error) {
        added.set(config, []);
        errors.push(messageOf(error));
      }
    }
  });
  return { outcomes, errors, added };
}

/** Starts registered processes and changes existing ones. After a failure the others go on. */
export async function carryOut(
  supervisor: Supervisor,
  plan: ApplyPlan,
  { added, ...before }: Registered,
  options: ApplyOptions,
): Promise<Applied> {
  // Unchanged ones as well: an earlier request may still be about to change them.
  const changed = new Map(
    [...plan.configs.values()].map((config) =>
      [config, supersede(supervisor.registry.instancesOf(config.name), config)] as const
    ),
  );
  const [outcomes, errors] = [[...before.outcomes], [...before.errors]];
  const startOne = starter(plan.isStopped);
  const changes = new Map(plan.changed.map((change) => [change.config.name, change]));
  const starting = { verb: "start" } as const;
  const unchanged = new Set(options.startDown ? plan.unchanged : []);
  const down = supervisor.registry.list().filter((process) =>
    unchanged.has(process.config.name) && process.config.autostart && !isJob(process) &&
    isDown(process) && !plan.isStopped(process)
  );
  supervisor.registry.putOnRecord(down, starting);
  const one = async (config: ProcessConfig): Promise<Outcome[]> => {
    const processes = added.get(config);
    if (processes !== undefined) {
      const how = { start: config.autostart, wait: options.wait };
      return await supervisor.startAdded(processes, how, startOne);
    }
    const change = changes.get(config.name);
    const starts = (options.startDown || change?.starts) && config.autostart;
    const next = starts && config.cron === undefined ? starting : undefined;
    const instances = supervisor.registry.instancesOf(config.name);
    // Another request may have changed it since the plan was made.
    const isChanged = change !== undefined || firstChanges(instances, config).length > 0;
    const outcomes = isChanged ? await applyChange(supervisor, config, options, next) : [];
    if (!starts) return outcomes;
    const tried = new Set(outcomes.map(({ process }) => process));
    const start = (process: ManagedProcess) =>
      process.whilePending(starting, () => startOne(process, options));
    return [...outcomes, ...await startDown(supervisor, config, tried, start)];
  };
  try {
    for (const wave of plan.waves) {
      const done = wave.map((config) => {
        const acting = one(config);
        changed.get(config)!(acting);
        return acting.catch((error) => {
          errors.push(messageOf(error));
          return [];
        });
      });
      supervisor.registry.recorder.recordRest();
      await supervisor.scheduler.sync();
      outcomes.push(...(await Promise.all(done)).flat());
    }
  } finally {
    for (const settle of changed.values()) settle([]);
  }
  await supervisor.scheduler.sync();
  const final = await whatStayedUp(outcomes, options);
  for (const { error } of final) if (error !== undefined) errors.push(error.message);
  return { outcomes: final, errors };
}

/**
 * Starts what is down, except for the processes that were tried already. Waits for what is being
 * started or changed at the moment.
 */
async function startDown(
  supervisor: Supervisor,
  { name }: ProcessConfig,
  tried: ReadonlySet<ManagedProcess>,
  start: (process: ManagedProcess) => Promise<void>,
): Promise<Outcome[]> {
  const down = supervisor.registry.instancesOf(name).filter((process) =>
    (isDown(process) || isComingUp(process) || changeInProgress(process) !== undefined) &&
    !isJob(process) && !tried.has(process)
  );
  return await runBulk(down, (process) => changeInProgress(process) ?? start(process));
}

async function applyChange(
  supervisor: Supervisor,
  config: ProcessConfig,
  { wait = false }: ApplyOptions,
  next: PendingRequest | undefined,
): Promise<Outcome[]> {
  const { registry } = supervisor;
  const outcomes: Outcome[] = [];
  const isWanted = () =>
    registry.instancesOf(config.name).every((process) => isLatest(process, config));
  const before = registry.instancesOf(config.name);
  if (before.length > config.instances && isWanted()) {
    outcomes.push(...await scale(registry, config.name, config.instances, { wait }));
  }
  const left = registry.instancesOf(config.name);
  const waitReady = wait || left.filter(isKeptUp).length > 1;
  // Nothing else changes: the same configuration reads its files again.
  const always = firstChanges(left, config).length === 0 && changedContents(left).length > 0;
  const replaced = always ? left.filter(isKeptUp) : left;
  const how = { waitReady, next, always };
  const reloaded = (await reloadWith(registry, replaced, config, how)).outcomes;
  outcomes.push(...reloaded);
  const failed = hasFailed(reloaded);
  const isMiscounted = left.length < config.instances || shownCount(left, config) !== undefined;
  if (!failed && isMiscounted && isWanted()) {
    outcomes.push(...await scale(registry, config.name, config.instances, { wait }));
  }
  return outcomes;
}

/** Whether it was stopped, or ended by itself. */
function isDown({ snapshot: { state, desired } }: ManagedProcess): boolean {
  return desired === "down" || AT_REST.has(state);
}

/** Whether another request has started it, and its pid or its readiness is awaited. */
function isComingUp({ snapshot: { state, pid, awaiting } }: ManagedProcess): boolean {
  return state === "starting" || awaiting === "dependencies" || (state === "running" && pid === 0);
}
