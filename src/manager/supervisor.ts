/** The verbs on the processes of one home, and its shutdown. */

import type { LoggedProcess } from "../logs/keep/kept_log.ts";
import type { LogTrouble } from "../model/log_line.ts";
import type { Resurrected, StopOptions as Stop, WaitOptions } from "../library/options.ts";
import { withinTime } from "../platform/concurrency.ts";
import { parseConfig } from "../model/config_schema.ts";
import { formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import type { ReleaseInfo } from "../model/app.ts";
import type { ProcessInfo, WaitPoint } from "../model/process_info.ts";
import type { Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { ambiguous, notFound } from "../model/target.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { StopRequest, UpOptions } from "../process/process_requests.ts";
import {
  inWaves,
  isJob,
  type Outcome,
  reversed,
  runBulk,
  type Start,
  starter,
  stoppedSince,
  thoseThatRun,
  throwFirst,
  untilReached,
  whatStayedUp,
  withoutJobs,
} from "./bulk.ts";
import { needsRestart } from "../model/config_diff.ts";
import { checkConfig, type Purpose, refuseTaken, wireDefaults } from "./check_config.ts";
import { AppDirectory, type Directory } from "./app_directory.ts";
import { Apply } from "./apply.ts";
import { RestartTally } from "../model/restart_budget.ts";
import { RetriedWrites } from "../platform/files/retried_writes.ts";
import { EventHooks } from "./event_hooks.ts";
import { EventHub } from "./event_hub.ts";
import { LogKeeper } from "../logs/keep/log_keeper.ts";
import type { SupervisorConfig } from "./manager_options.ts";
import {
  appOfAll,
  type Asking,
  change,
  changedConfig,
  type ReconfigureOptions,
  reloadAll,
  type ReloadOptions,
  type ReloadResult,
  scale,
} from "./app_requests.ts";
import type { ChangeResult, ManagedApp } from "./managed_app.ts";
import { HALTED, recordBoot, recoverHome } from "./recovery.ts";
import { Registry } from "./registry.ts";
import { Removal } from "./removal.ts";
import { resurrect, saveState } from "./saved_state.ts";
import { carryOutUnfinished } from "./unfinished.ts";
import { Scheduler } from "../schedules/scheduler.ts";
import { type SystemWorld, systemWorld } from "../platform/system_world.ts";
import type { TakenHome } from "./take_home.ts";
import { UsageSampler } from "./usage_sampler.ts";

interface AddOptions extends UpOptions {
  /** Whether to start it as well; default true. */
  readonly start?: boolean;
}

interface StopOptions extends Omit<Stop, "signal"> {
  /** False: SIGKILL at once, like `force`. */
  readonly graceful?: boolean;
  /** Stop all at once, the default, or one after the other. */
  readonly parallel?: boolean;
}

/** One target, or several. */
type Targets = string | readonly string[];

/** Supervises the processes of one home. */
export class Supervisor implements AsyncDisposable {
  /** Which apps and processes there are. */
  readonly directory: Directory;
  readonly events: EventHub;
  /** Applies configurations to many apps. */
  readonly apply: Apply;
  /** Failed writes of the home. */
  readonly writes: RetriedWrites;
  /** Rotates and flushes logs, and records the times of lines. */
  readonly logs: LogKeeper;
  /** Runs jobs, and restarts processes by the clock. */
  readonly scheduler: Scheduler;
  /** Reads the resource usage of processes, once for all callers. */
  readonly usage: UsageSampler;
  /** Operating system functions for its processes. */
  readonly system: SystemWorld;
  readonly warn: (message: string) => void;
  readonly #registry: Registry;
  readonly #removal: Removal;
  readonly #restarts = new RestartTally();
  readonly #home: TakenHome;
  readonly #defaults: ProcessDefaults;
  #closed: Promise<void> | undefined;

  /** Use `openSupervisor()`, which also adopts running processes. */
  constructor(home: TakenHome, config: SupervisorConfig) {
    const { defaults = {}, warn = () => {}, clock, stdin } = config;
    const { paths } = this.#home = home;
    this.#defaults = defaults;
    this.warn = warn;
    this.system = systemWorld(paths, { clock, stdin });
    const { world } = this.system;
    this.usage = new UsageSampler(world.clock);
    this.events = new EventHub(warn, new EventHooks(config.dashboard).happened);
    const directory = new AppDirectory(warn);
    this.directory = directory;
    const list = () => directory.list();
    const writes = this.writes = new RetriedWrites(world.clock, warn);
    this.#registry = new Registry({
      ...{ world, paths, directory, hub: this.events, writes, warn },
      peers: {
        launched: (process) => this.logs.wake(process),
        changed: (process, before) => this.#changed(process, before),
        moveLogs: (process, act) => this.logs.move(process, act),
      },
    });
    const troubled = ({ name }: LoggedProcess, trouble: LogTrouble) =>
      list().find((process) => process.name === name)?.logTroubled(trouble);
    this.logs = new LogKeeper({ clock: world.clock, list, warn, troubled });
    this.scheduler = new Scheduler({
      ...{ clock: world.clock, folder: paths.cron, list, writes, warn },
      overdue: ({ id }, reason) => {
        const process = list().find((one) => one.id === id);
        if (process !== undefined) this.events.publishOf(process, "overdue", { reason });
      },
    });
    this.apply = new Apply(this, this.#registry);
    this.#removal = new Removal(this.#registry, this.logs);
  }

  #changed(process: ManagedProcess, before: Snapshot): void {
    this.scheduler.changed(process, before);
    const restarts = process.snapshot.restarts - before.restarts;
    if (restarts > 0) this.#restarts.add(restarts, this.system.world.clock.steady());
  }

  /** Automatic restarts of the last hour, since this supervisor exists. */
  get restartsLastHour(): number {
    return this.#restarts.lastHour(this.system.world.clock.steady());
  }

  /** How many releases ended since this supervisor exists, by their result. */
  get releaseCounts(): Registry["releases"] {
    return this.#registry.releases;
  }

  /** Restores what an earlier supervisor of the home left, and goes on with it. */
  async recover(): Promise<void> {
    await recoverHome(this.#registry, this.#home.paths, this.system, this.warn);
    this.logs.start();
    await this.scheduler.sync();
    void this.#carryOutUnfinished();
  }

  async #carryOutUnfinished(): Promise<void> {
    const outcomes = await this.#synced(
      carryOutUnfinished(this.#registry.directory, this.#removal),
    );
    for (const { error } of outcomes) if (error !== undefined) this.warn(error.message);
  }

  /** Once processes have come or gone, so have schedules. */
  async #synced<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    await this.scheduler.sync();
    return result;
  }

  /** Writes all records again after their files were removed. */
  recordAnew(): void {
    this.#registry.recordAnew();
    recordBoot(this.writes, this.#home.paths.boot, this.system.launcher.bootId);
  }

  /** Stops all writes: another supervisor owns the home now. */
  abandonRecords(): void {
    this.#registry.abandonRecords();
  }

  /** Whether verbs are refused: it shuts down or has shut down. */
  get closing(): boolean {
    return this.#registry.closing;
  }

  /** Throws `closed`. */
  refuseClosed(): void {
    this.#registry.refuseClosed();
  }

  /** All processes, by numeric id. */
  list(): ProcessInfo[] {
    return this.#infos(this.directory.list());
  }

  /** Information about the one process that matches a target. */
  inspect(target: string): ProcessInfo {
    return this.info(this.process(target));
  }

  /** The one process that matches a target. */
  process(target: string): ManagedProcess {
    const found = this.directory.resolve(target);
    if (found.length > 1) throw ambiguous(target, found);
    if (found.length === 0) throw notFound(target, []);
    return found[0]!;
  }

  /** Information about a process. */
  info(process: ManagedProcess): ProcessInfo {
    return this.#infos([process])[0]!;
  }

  /** Registers a configuration in wire form and starts its instances. Throws before any change. */
  async add(wire: Record<string, unknown>, options: AddOptions = {}): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    const config = this.parse(wire);
    await this.check(config);
    refuseTaken(config, this.directory.configs());
    const { start = true } = options;
    const up = this.startAdded(this.#registry.add(config, { start }), options);
    this.#registry.recorder.recordRest();
    await this.scheduler.sync();
    return await whatStayedUp(up, options);
  }

  /** Starts registered processes, except jobs and those that were removed meanwhile. */
  startAdded(
    added: readonly ManagedProcess[],
    { start = true, ...options }: AddOptions = {},
    startOne: Start = (process, given) => process.start(given),
  ): Promise<Outcome[]> {
    const present = new Set(this.directory.list());
    return runBulk(added.filter((process) => present.has(process)), async (process) => {
      if (start && !isJob(process)) await startOne(process, options);
    });
  }

  /** A configuration in wire form over the defaults. Throws `invalid_config`. */
  parse(wire: Record<string, unknown>): ProcessConfig {
    return parseConfig({ ...wireDefaults(this.#defaults, wire), ...wire });
  }

  /** Throws `invalid_config` if a configuration could not be started beside all others. */
  async check(
    config: ProcessConfig,
    others: Iterable<ProcessConfig> = this.directory.configs(),
    purpose: Purpose = "start",
  ): Promise<void> {
    await checkConfig(config, { world: this.system.world, others, purpose });
    await this.scheduler.check(config);
  }

  /** The processes of one target or of several, each once. Throws before anything is done. */
  #meant(targets: Targets, of = (_: string, found: ManagedProcess[]) => found): ManagedProcess[] {
    const found = [targets].flat().map((target) => of(target, this.directory.resolve(target)));
    return [...new Set(found.flat())];
  }

  /** Starts existing processes. */
  async start(target: Targets, options: UpOptions = {}): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    const processes = this.#meant(target, withoutJobs);
    const start = starter(stoppedSince(processes));
    const waves = inWaves(processes);
    const up = this.#registry.inTurn(
      waves,
      { verb: "start" },
      (process) => start(process, options),
    );
    return await whatStayedUp(up, options);
  }

  /** Stops processes; those that depend on others first. */
  async stop(target: Targets, options: StopOptions = {}): Promise<Outcome[]> {
    const request = stopRequest(options);
    const waves = reversed(inWaves(this.#meant(target)));
    return await this.#stopInTurn(waves, request, options.parallel);
  }

  #stopInTurn(
    waves: readonly ManagedProcess[][],
    request: StopRequest,
    parallel?: boolean,
  ): Promise<Outcome[]> {
    const stop = (process: ManagedProcess) => process.stop(request);
    return this.#registry.inTurn(waves, { verb: "stop", ...request }, stop, parallel);
  }

  async restart(target: Targets, options: UpOptions = {}): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    const processes = this.#meant(target, withoutJobs);
    const restart = (process: ManagedProcess) => process.restart(options);
    const up = this.#registry.inTurn([processes], { verb: "restart" }, restart);
    return await whatStayedUp(up, options);
  }

  /** Reloads processes, the instances of an app in batches. */
  async reload(target: Targets, options: ReloadOptions = {}): Promise<ReloadResult> {
    this.#registry.refuseClosed();
    const processes = this.#meant(target, withoutJobs);
    return await reloadAll(this.#registry, processes, options);
  }

  /** Changes the configuration of an app. Throws like `check()` before any change. */
  async reconfigure(target: string, options: ReconfigureOptions): Promise<ChangeResult> {
    this.#registry.refuseClosed();
    const { app, config } = await this.#checkedChange(target, options);
    if (app === undefined) return NOTHING_CHANGED;
    const done = change(app, { ...options, config });
    await this.scheduler.sync();
    return await this.#synced(done);
  }

  /** What `reconfigure()` would change. Runs nothing. */
  async plannedChange(target: string, options: ReconfigureOptions): Promise<PlannedChange> {
    const { app, config } = await this.#checkedChange(target, options, "look");
    if (app === undefined) return { fields: [], replaces: false };
    const fields = app.changesTo(config!);
    return { fields, replaces: needsRestart(fields) && app.replacedBy(config!).length > 0 };
  }

  /** The app of a target, and its changed configuration; undefined if there is none. */
  async #checkedChange(
    target: string,
    options: ReconfigureOptions,
    purpose: Purpose = "start",
  ): Promise<{ app?: ManagedApp; config?: ProcessConfig }> {
    for (;;) {
      const processes = this.directory.resolve(target);
      if (processes.length === 0) return {};
      const app = appOfAll(this.#registry, processes);
      const before = app.wanted;
      const config = this.parse(changedConfig(before, options));
      await this.check(config, this.directory.configs(), purpose);
      // Another request may have changed it while secrets were fetched: its change must stay.
      if (app.wanted !== before || this.directory.app(app.name) !== app) continue;
      this.#registry.checkDependencies(config);
      refuseTaken(config, this.directory.configs());
      return { app, config };
    }
  }

  /** Changes the number of instances of an app. */
  async scale(
    name: string,
    change: string | number,
    options: UpOptions & Asking = {},
  ): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    return await this.#synced(
      whatStayedUp(scale(this.#registry, name, change, options), options),
    );
  }

  /** The changes on record of each app that has a matching instance, the newest last. */
  releases(target: string): ReleaseInfo[] {
    const { directory } = this;
    const apps = new Set(directory.resolve(target).map((process) => directory.appOf(process)));
    return [...apps].flatMap(({ releases }) => releases);
  }

  /** Stops and removes processes. */
  async remove(target: Targets): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    return await this.#synced(this.#removal.remove(this.#meant(target)));
  }

  /** Stops and removes all instances of the named apps, in reverse order of starts. */
  async removeApps(names: ReadonlySet<string>, reason?: string): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    const going = this.directory.list().filter(({ config }) => names.has(config.name));
    return await this.#synced(this.#removal.removeInOrder(going, reason));
  }

  /** Empties the logs of processes and removes their archives. */
  flush(target: Targets): Promise<Outcome[]> {
    return this.#onEach(target, (process) => this.logs.flush(process));
  }

  /** Sends a signal to the main processes of apps. */
  signal(target: Targets, signal: SignalName): Promise<Outcome[]> {
    const act = (process: ManagedProcess) => Promise.resolve(process.signal(signal));
    return this.#onEach(target, act, thoseThatRun);
  }

  /**
   * Resolves when every process has reached a point in its life; see `untilReached()`. Throws
   * `timeout`.
   */
  async waitFor(
    target: string,
    point: WaitPoint,
    { timeout, signal }: Omit<WaitOptions, "for">,
  ): Promise<ProcessInfo[]> {
    const processes = this.directory.resolve(target);
    const what = `"${target}" did not reach "${point}"`;
    await withinTime(what, timeout, signal, (over) => untilReached(processes, point, over));
    return this.#infos(processes);
  }

  async #onEach(
    target: Targets,
    act: (process: ManagedProcess) => Promise<void>,
    of?: (target: string, found: ManagedProcess[]) => ManagedProcess[],
  ): Promise<Outcome[]> {
    this.#registry.refuseClosed();
    return await runBulk(this.#meant(target, of), act);
  }

  /** Saves the list of processes; see `saveState()`. Returns how many. */
  save(options: { readonly allowEmpty?: boolean } = {}): number {
    const { allowEmpty = false } = options;
    return saveState(this.#home.paths.saved, this.#registry, { allowEmpty, warn: this.warn });
  }

  /** Restores missing saved processes, and starts those that were up. */
  async resurrect(): Promise<Resurrected> {
    const { saved } = this.#home.paths;
    return await this.#synced(resurrect(this.#registry, saved));
  }

  /**
   * Stops all processes, the last one first, removes them, waits for their hooks and cleans up;
   * logs and saved state stay. Safe to call several times. Throws `stop_failed` if a process does
   * not end.
   */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#registry.leave(this.directory.list());
    const outcomes = await this.#stopAll({});
    const remove = (process: ManagedProcess) => Promise.resolve(this.#registry.remove(process));
    const removed = await runBulk(this.directory.list(), remove);
    await this.scheduler.sync();
    await this.logs.close();
    await this.system.launcher.close();
    this.release();
    throwFirst([...outcomes, ...removed]);
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Stops all processes, the last one first, and waits for their hooks. They stay registered.
   * Further verbs are refused.
   */
  shutDown(): Promise<Outcome[]> {
    return this.#stopAll({ reason: "shutdown" });
  }

  /**
   * Like `shutDown()`, when the machine or the user's session ends. The records stay unchanged: the
   * next supervisor of the home starts the processes again, in this boot or another. If this one is
   * killed half-way, the next one adopts processes that still run, and starts the others.
   */
  halt(): Promise<Outcome[]> {
    this.#registry.recorder.freeze();
    recordBoot(this.writes, this.#home.paths.boot, HALTED);
    return this.shutDown();
  }

  async #stopAll(request: StopRequest): Promise<Outcome[]> {
    this.#registry.beginClosing();
    this.scheduler.close();
    const outcomes = await this.#stopInTurn(reversed(inWaves(this.directory.list())), request);
    // Wait for hooks: if the caller ends, their timeouts end with it.
    await this.#registry.hooksOver();
    return outcomes;
  }

  /** Closes the supervisor and leaves all processes running, for the next one to adopt. */
  release(): void {
    this.#closed ??= Promise.resolve();
    this.#registry.beginClosing();
    this.scheduler.close();
    void this.logs.close();
    this.#registry.close();
    for (const process of this.directory.list()) process.release();
    this.events.close();
    this.system.close();
    this.#home[Symbol.dispose]();
  }

  #infos(processes: readonly ManagedProcess[]): ProcessInfo[] {
    const usage = this.usage.sample(processes);
    return processes.map((process) => process.info(usage(process)));
  }
}

interface PlannedChange extends Pick<ChangeResult, "fields"> {
  /** Whether runs would be replaced. */
  readonly replaces: boolean;
}

const NOTHING_CHANGED: ChangeResult = {
  ...{ outcomes: [], rolledBack: false, fields: [], kept: [], isFailed: false, isScaled: false },
};

const MAX_STOP_TIMEOUT_MS = 3_600_000;

/** The request to one process. Throws `bad_request` for an invalid timeout, or one over an hour. */
function stopRequest({ force, graceful, timeout }: StopOptions): StopRequest {
  if (force || graceful === false) return { timeoutMs: 0 };
  if (timeout === undefined) return {};
  const timeoutMs = parseDuration(timeout);
  if (timeoutMs <= MAX_STOP_TIMEOUT_MS) return { timeoutMs };
  throw new ProcsupError(
    "bad_request",
    `Invalid timeout "${formatDuration(timeoutMs)}": at most one hour is possible`,
  );
}
