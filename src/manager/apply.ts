/** Applies configuration files to processes, with as few restarts as possible. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { refuseNeverMet, startWaves } from "../model/start_order.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { sleep } from "../platform/clock.ts";
import { contentChanges } from "../process/environment.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import {
  asProcsupError,
  isJob,
  ordered,
  type Outcome,
  runBulk,
  type Start,
  starter,
  stoppedSince,
  whatStayedUp,
} from "./bulk.ts";
import { type FieldChange, needsRestart } from "../model/config_diff.ts";
import { type Asking, change } from "./app_requests.ts";
import { applyWaves, type Purpose, refuseTaken } from "./check_config.ts";
import type { ManagedApp } from "./managed_app.ts";
import type { AppDirectory } from "./app_directory.ts";
import type { Registry } from "./registry.ts";
import type { Scheduler } from "../schedules/scheduler.ts";

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
  /** Names of existing apps with instances that are down and that `startDown` would start. */
  readonly stopped: readonly string[];
  /** The configurations in the order in which they are applied. */
  readonly waves: readonly (readonly ProcessConfig[])[];
  /** Whether a process was stopped since the plan was begun: it stays down. */
  readonly isStopped: (process: ManagedProcess) => boolean;
}

export interface ApplyOptions extends Asking {
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

/** What an apply needs of its supervisor. */
interface ApplyHost {
  readonly scheduler: Scheduler;
  check(config: ProcessConfig, others: Iterable<ProcessConfig>, purpose: Purpose): Promise<void>;
  startAdded(
    added: readonly ManagedProcess[],
    options: { readonly start: boolean; readonly wait?: boolean | undefined },
    start: Start,
  ): Promise<Outcome[]>;
  removeApps(names: ReadonlySet<string>, reason: string): Promise<Outcome[]>;
}

/** Gives apps the configurations of files, in three parts: a plan, what it registers, and the rest. */
export class Apply {
  readonly #host: ApplyHost;
  readonly #registry: Registry;

  constructor(host: ApplyHost, registry: Registry) {
    this.#host = host;
    this.#registry = registry;
  }

  get #directory(): AppDirectory {
    return this.#registry.directory;
  }

  /**
   * Compares configurations with existing processes. `mine` are names of processes that came from the
   * same files. Throws `invalid_config` if one could not be started, before any change.
   */
  async plan(
    wanted: readonly ProcessConfig[],
    mine: Iterable<string> = [],
    { prune = false, purpose = "start" }: PlanOptions = {},
  ): Promise<ApplyPlan> {
    this.#registry.refuseClosed();
    const leaving = new Set([...wanted.map(({ name }) => name), ...prune ? mine : []]);
    const isStopped = stoppedSince(this.#directory.list());
    const present = this.#directory.configs();
    const kept = present.filter(({ name }) => !leaving.has(name));
    const configs = await this.#checkAll(wanted, kept, purpose);
    const added: ProcessConfig[] = [];
    const changed: ConfigChange[] = [];
    const unchanged: string[] = [];
    const stopped: string[] = [];
    for (const config of configs.values()) {
      const app = this.#directory.app(config.name);
      if (app === undefined) {
        added.push(config);
        continue;
      }
      if (startsItself(config) && app.instances.some(isDown)) stopped.push(config.name);
      const fields = changesTo(app, config);
      if (fields.length === 0) unchanged.push(config.name);
      else changed.push({ config, fields, ...this.#effectsOf(app, config, fields) });
    }
    const gone = [...mine].filter((name) =>
      this.#directory.app(name) !== undefined && !configs.has(name)
    );
    const waves = applyWaves([...configs.values()], present);
    return { added, changed, unchanged, stopped, gone, configs, waves, isStopped };
  }

  /** What a change does to the instances. */
  #effectsOf(
    app: ManagedApp,
    config: ProcessConfig,
    fields: readonly FieldChange[],
  ): Pick<ConfigChange, "restarts" | "stops" | "starts"> {
    const replaced = needsRestart(fields) && app.replacedBy(config).length > 0;
    const becomesJob = config.cron !== undefined;
    const starts = config.autostart && !becomesJob &&
      app.instances.some((process) => this.#isScheduled(process));
    return { restarts: replaced && !becomesJob, stops: replaced && becomesJob, starts };
  }

  /** Whether it is a job between its runs whose schedule is enabled. */
  #isScheduled(process: ManagedProcess): boolean {
    const { config: { cron }, snapshot } = process;
    if (cron === undefined || snapshot.run !== null) return false;
    return !cron.enabled || this.#host.scheduler.list([process]).some(({ enabled }) => enabled);
  }

  async #checkAll(
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
        await this.#host.check(config, [...kept, ...configs.values()], purpose);
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

  /**
   * Removes processes that are no longer in the files, and registers new ones. Throws `closed` during a
   * shutdown.
   */
  async register(
    plan: ApplyPlan,
    { prune = false }: Pick<ApplyOptions, "prune">,
  ): Promise<Registered> {
    const errors: string[] = [];
    const outcomes = prune
      ? await this.#host.removeApps(new Set(plan.gone), "no longer in the configuration")
      : [];
    this.#registry.refuseClosed();
    const added = new Map<ProcessConfig, readonly ManagedProcess[]>();
    const others = this.#directory.configs()
      .filter(({ name }) => !plan.configs.has(name));
    // Register all first, so that lists show processes that are still to be started.
    const isNew = new Set(plan.added);
    this.#registry.recorder.together(() => {
      for (const config of plan.waves.flat().filter((config) => isNew.has(config))) {
        try {
          refuseTaken(config, others);
          added.set(config, this.#registry.add(config, { start: config.autostart }));
        } catch (error) {
          added.set(config, []);
          errors.push(messageOf(error));
        }
      }
    });
    return { outcomes, errors, added };
  }

  /** Starts registered processes and changes existing ones. After a failure the others go on. */
  async carryOut(
    plan: ApplyPlan,
    { added, ...before }: Registered,
    options: ApplyOptions,
  ): Promise<Applied> {
    const [outcomes, errors] = [[...before.outcomes], [...before.errors]];
    const begun = this.#begin(plan, options);
    try {
      for (const wave of plan.waves) {
        const done = wave.map(async (config) => {
          try {
            const processes = added.get(config);
            return processes === undefined
              ? await begun.get(config)?.carryOut() ?? []
              : await this.#startNew(plan, config, processes, options);
          } catch (error) {
            errors.push(messageOf(error));
            return [];
          }
        });
        this.#registry.recorder.recordRest();
        await this.#host.scheduler.sync();
        outcomes.push(...(await Promise.all(done)).flat());
      }
    } finally {
      for (const { go } of begun.values()) go();
    }
    await this.#host.scheduler.sync();
    const final = await whatStayedUp(outcomes, options);
    for (const { error } of final) if (error !== undefined) errors.push(error.message);
    return { outcomes: final, errors };
  }

  #startNew(
    { isStopped }: ApplyPlan,
    { autostart }: ProcessConfig,
    processes: readonly ManagedProcess[],
    { wait }: ApplyOptions,
  ): Promise<Outcome[]> {
    return this.#host.startAdded(processes, { start: autostart, wait }, starter(isStopped));
  }

  /**
   * Records every change, before the first is made: a later request supersedes those whose turn has
   * not come, and the next daemon makes them.
   */
  #begin(
    plan: ApplyPlan,
    options: ApplyOptions,
  ): Map<ProcessConfig, Begun> {
    const starts = new Set(plan.changed.filter(({ starts }) => starts).map(({ config }) => config));
    return this.#registry.recorder.together(() => {
      const begun = new Map<ProcessConfig, Begun>();
      for (const config of plan.configs.values()) {
        const app = this.#directory.app(config.name);
        if (app === undefined || plan.added.includes(config)) continue;
        const go = app.hold();
        const changed = changeTo(app, config, options);
        changed.catch(() => {});
        const isStarted = (options.startDown || starts.has(config)) && startsItself(config);
        const down = isStarted ? app.instances.filter(isDown) : [];
        this.#registry.putOnRecord(down, START);
        const carryOut = async () => {
          go();
          const outcomes = await changed;
          return isStarted
            ? [...outcomes, ...await startDown(app, plan, outcomes, options)]
            : outcomes;
        };
        begun.set(config, { go, carryOut });
      }
      return begun;
    });
  }
}

/** The changes of an app, also of its number of instances. */
function changesTo(app: ManagedApp, config: ProcessConfig): readonly FieldChange[] {
  const fields = [...app.changesTo(config), ...changedContents(app)];
  const { instances: from } = app.wanted;
  const to = config.instances;
  return from === to ? fields : [...fields, { field: "instances", from, to }];
}

/** What the files of the instances that run set now, and did not at their launch. */
function changedContents(app: ManagedApp): readonly FieldChange[] {
  return app.replacedBy(app.wanted).map(({ config, snapshot }) =>
    contentChanges(config, snapshot.run?.contents)
  ).find((changes) => changes.length > 0) ?? [];
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

/** A change that is on record. */
interface Begun {
  /** Lets the app act. */
  readonly go: () => void;
  /** Lets it act, and resolves with the outcomes. */
  readonly carryOut: () => Promise<Outcome[]>;
}

const START = { verb: "start" } as const;

/** Gives an app a configuration, also the number of instances. */
async function changeTo(
  app: ManagedApp,
  config: ProcessConfig,
  { wait = false, startDown = false, by }: ApplyOptions,
): Promise<Outcome[]> {
  const fewer = config.instances < app.wanted.instances
    ? app.resize(config.instances, by, { wait })
    : undefined;
  const waitReady = wait || app.replacedBy(app.wanted).length > 1;
  const changes = app.changesTo(config).length > 0 ? [] : changedContents(app);
  // Nothing else changes: the same configuration reads its files again.
  const replaced = changes.length > 0 ? app.replacedBy(app.wanted) : [];
  // What is under way already is awaited only by those who want it up.
  const isAwaited = startDown || changes.length > 0 || app.changesTo(config).length > 0;
  const growth = { count: config.instances, options: { wait } };
  const { outcomes, isFailed, isScaled } = isAwaited
    ? await change(app, { config, waitReady, by, isHeld: true, replaced, changes, more: growth })
    : { outcomes: [], isFailed: false, isScaled: false };
  // Without a release of its own, or one was deleted meanwhile.
  const isMissing = !isScaled && app.staying.length > 0 &&
    config.instances > app.wanted.instances;
  const more = !isFailed && isMissing ? app.resize(config.instances, by, { wait }) : undefined;
  return [...await fewer ?? [], ...outcomes, ...await more ?? []];
}

/**
 * Starts what is down, except for the processes that were tried already. Waits for what is being
 * started at the moment.
 */
async function startDown(
  app: ManagedApp,
  { isStopped }: ApplyPlan,
  outcomes: readonly Outcome[],
  options: ApplyOptions,
): Promise<Outcome[]> {
  const tried = new Set(outcomes.map(({ process }) => process));
  const down = app.staying.filter((process) =>
    (isDown(process) || isComingUp(process)) && !isJob(process) && !tried.has(process)
  );
  const startOne = starter(isStopped);
  return await runBulk(
    down,
    (process) => process.whilePending(START, () => startOne(process, options)),
  );
}

/** Whether an apply may start it. Jobs are started by their schedule. */
function startsItself({ autostart, cron }: ProcessConfig): boolean {
  return autostart && cron === undefined;
}

/** Whether it was stopped, or ended by itself. */
function isDown({ snapshot: { state, desired } }: ManagedProcess): boolean {
  return desired === "down" || AT_REST.has(state);
}

/** Whether another request has started it, and its pid or its readiness is awaited. */
function isComingUp({ snapshot: { state, pid, awaiting } }: ManagedProcess): boolean {
  return state === "starting" || awaiting === "dependencies" || (state === "running" && pid === 0);
}
