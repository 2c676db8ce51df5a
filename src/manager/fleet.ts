/** Every verb on the processes of one home, by target. */

import { wireKeys } from "../model/key_spelling.ts";
import { mergePatch } from "../model/merge_patch.ts";
import { expanded } from "../model/shorthand.ts";
import { parseConfig } from "../model/config_schema.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import type { SignalName } from "../model/signal.ts";
import { ambiguous, notFound } from "../model/target.ts";
import type { WaitPoint } from "../model/wait_point.ts";
import { type LogFiles, logFiles } from "../logs/log_files.ts";
import type { HomePaths } from "../platform/paths.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { StopRequest, UpOptions } from "../process/requests.ts";
import type { World } from "../process/world.ts";
import { checkWatch } from "../process/watch/roots.ts";
import { readyPattern } from "../process/line_watch.ts";
import { takenFromShell } from "../process/environment.ts";
import { launchPlan } from "../process/launch_plan.ts";
import { refuseTakenSockets } from "../process/launch_setup.ts";
import { fetchSecrets } from "../process/secrets.ts";
import { inWaves, isJob, type Outcome, reversed, runBulk, runWaves, withoutJobs } from "./bulk.ts";
import { EventHub } from "./event_hub.ts";
import { LogKeeper } from "./log_keeper.ts";
import { Registry, type Warn } from "./registry.ts";
import {
  oneConfig,
  reloadAll,
  type RollingOptions,
  rollingReload,
  type RollingResult,
} from "./rolling_reload.ts";
import { scale } from "./scale.ts";
import { Scheduler } from "./scheduler.ts";
import { type StopOptions, stopRequest } from "./stop_options.ts";
import { UsageSampler } from "./usage_sampler.ts";
import { untilReached } from "./wait_points.ts";
import { wireDefaults } from "./wire_defaults.ts";

/** The processes of one home. */
export class Fleet {
  readonly registry: Registry;
  /** Rotates, notes times, flushes. */
  readonly logs: LogKeeper;
  /** Runs jobs, and restarts by the clock. */
  readonly scheduler: Scheduler;
  /** Reads what processes use, once for everything that asks. */
  readonly usage: UsageSampler;
  readonly #world: World;
  readonly #paths: HomePaths;
  readonly #defaults: ProcessDefaults;
  readonly #hub = new EventHub();
  #closing = false;

  constructor(world: World, paths: HomePaths, defaults: ProcessDefaults, warn: Warn = () => {}) {
    this.#world = world;
    this.#paths = paths;
    this.#defaults = defaults;
    this.usage = new UsageSampler(world.clock);
    this.registry = new Registry({ world, paths, hub: this.#hub, warn });
    this.logs = new LogKeeper({
      clock: world.clock,
      list: () => this.registry.list(),
      files: (process) => this.logFilesOf(process),
      warn,
    });
    this.scheduler = new Scheduler({
      clock: world.clock,
      folder: paths.cron,
      list: () => this.registry.list(),
      writes: this.registry.writes,
      warn,
    });
    this.registry.onChanged = (process, before) => this.scheduler.changed(process, before);
    this.registry.onLaunch = (process) => this.logs.wake(process);
  }

  /** Whether no verb is taken any more. */
  get closing(): boolean {
    return this.#closing;
  }

  /** All processes, by numeric id. */
  list(): ProcessInfo[] {
    return this.#infos(this.registry.list());
  }

  /** The processes that a target addresses. */
  select(target: string): ProcessInfo[] {
    return this.#infos(this.registry.resolve(target));
  }

  /** The one process that a target addresses, as it stands. */
  one(target: string): ProcessInfo {
    return this.info(this.process(target));
  }

  /** The one process that a target addresses. */
  process(target: string): ManagedProcess {
    const found = this.registry.resolve(target);
    if (found.length > 1) throw ambiguous(target, found);
    if (found.length === 0) throw notFound(target, []);
    return found[0]!;
  }

  /** A process as it stands after a verb. */
  info(process: ManagedProcess): ProcessInfo {
    return this.#infos([process])[0]!;
  }

  /** Names of the variables that a process has from `shell_env` other than from this supervisor. */
  takenFromShell({ config }: ManagedProcess): string[] {
    return takenFromShell(this.#world.inherited, config);
  }

  /** Paths of a process's logs. */
  logFiles(target: string): LogFiles {
    return this.logFilesOf(this.process(target));
  }

  /** The same, of a process that is known already. */
  logFilesOf(process: ManagedProcess): LogFiles {
    return logFiles(this.#paths.apps, process.name);
  }

  /** News of all processes from now on, or as far as they are kept from `since` on. */
  events(signal?: AbortSignal, since?: number): ReadableStream<ProcessChange> {
    return this.#hub.stream(signal, since);
  }

  /** Calls `listener` with all news from now on, while they happen; returns its undoing. */
  listen(listener: (change: ProcessChange) => void): () => void {
    return this.#hub.listen(listener);
  }

  /** Registers a configuration in wire form and starts its instances. Throws before anything is done. */
  async add(wire: Record<string, unknown>, options: UpOptions = {}): Promise<Outcome[]> {
    this.#refuseClosed();
    const config = this.check(wire);
    await this.checkLoaded(config);
    return await this.addChecked(config, options);
  }

  /** Registers a configuration that was checked, and starts its instances. */
  async addChecked(config: ProcessConfig, options: UpOptions = {}): Promise<Outcome[]> {
    this.#refuseClosed();
    const added = this.registry.add(config);
    // A job is only registered: the clock starts it.
    const up = runBulk(added, async (process) => {
      if (!isJob(process)) await process.start(options);
    });
    this.registry.recordRest();
    await this.scheduler.sync();
    return await up;
  }

  /** A configuration in wire form, checked as far as it can be before anything is done. */
  check(wire: Record<string, unknown>): ProcessConfig {
    const config = parseConfig({ ...wireDefaults(this.#defaults, wire), ...wire });
    this.checkParsed(config);
    return config;
  }

  /** The same for a configuration that was parsed. Throws `invalid_config`. */
  checkParsed(config: ProcessConfig): void {
    const process = { name: config.name, instanceIndex: 0, config };
    launchPlan(process, this.#world.inherited, "left out");
    checkWatch(config);
    refuseTakenSockets(config, this.registry.list().map((process) => process.config));
  }

  /** The checks that take time: secrets, schedules, patterns. Throws `invalid_config`. */
  async checkLoaded(config: ProcessConfig): Promise<void> {
    await fetchSecrets(config, this.#world.inherited, "fresh");
    await this.scheduler.check(config);
    if (config.readyLog !== undefined) await readyPattern(config.readyLog).ready();
  }

  /** Starts existing processes. */
  async start(target: string, options: UpOptions = {}): Promise<Outcome[]> {
    this.#refuseClosed();
    const waves = inWaves(withoutJobs(target, this.registry.resolve(target)));
    return await runWaves(waves, (process) => process.start(options));
  }

  /** Stops processes: those that depend on others first. */
  async stop(target: string, options: StopOptions = {}): Promise<Outcome[]> {
    const request = stopRequest(options);
    const waves = reversed(inWaves(this.registry.resolve(target)));
    return await runWaves(waves, (process) => process.stop(request), options.parallel ?? true);
  }

  /** Restarts processes. */
  restart(target: string, options: UpOptions = {}): Promise<Outcome[]> {
    return this.#onEach(target, (process) => process.restart(options), withoutJobs);
  }

  /** Reloads processes, the instances of one in turn. */
  async reload(target: string, options: UpOptions = {}): Promise<Outcome[]> {
    this.#refuseClosed();
    return await reloadAll(withoutJobs(target, this.registry.resolve(target)), options);
  }

  /** Reloads the instances of a process batch by batch; a merge patch changes their configuration. */
  async rollingReload(
    target: string,
    options: Omit<RollingOptions, "config"> & { patch?: Record<string, unknown> },
  ): Promise<RollingResult> {
    this.#refuseClosed();
    const { patch, ...rolling } = options;
    const processes = this.registry.resolve(target);
    if (patch === undefined || processes.length === 0) {
      return await rollingReload(processes, rolling);
    }
    const before = oneConfig(processes, patch);
    const config = this.check(mergePatch(wireKeys(before), expanded(patch)));
    this.registry.checkDependencies(config);
    await this.checkLoaded(config);
    const result = await rollingReload(processes, { ...rolling, config });
    await this.scheduler.sync();
    return result;
  }

  /** Changes how many instances of a process there are. */
  async scale(name: string, change: string | number): Promise<Outcome[]> {
    this.#refuseClosed();
    const outcomes = await scale(this.registry, name, change);
    await this.scheduler.sync();
    return outcomes;
  }

  /** Stops and forgets processes. */
  async remove(target: string): Promise<Outcome[]> {
    const outcomes = await this.#onEach(target, async (process) => {
      await process.stop({ then: () => this.logs.disown(process) });
      this.registry.remove(process);
    });
    await this.scheduler.sync();
    return outcomes;
  }

  /** Empties the logs of processes, archives included. */
  flush(target: string): Promise<Outcome[]> {
    return this.#onEach(target, (process) => this.logs.flush(process));
  }

  /** Sends a signal to the apps themselves. */
  signal(target: string, signal: SignalName): Promise<Outcome[]> {
    return this.#onEach(target, (process) => Promise.resolve(process.signal(signal)));
  }

  /** Resolves when every process has come to a point in its life; see `untilReached()`. */
  async waitFor(target: string, point: WaitPoint, signal?: AbortSignal): Promise<ProcessInfo[]> {
    const processes = this.registry.resolve(target);
    await untilReached(processes, point, signal);
    return this.#infos(processes);
  }

  async #onEach(
    target: string,
    act: (process: ManagedProcess) => Promise<void>,
    meant = (_: string, found: ManagedProcess[]) => found,
  ): Promise<Outcome[]> {
    this.#refuseClosed();
    return await runBulk(meant(target, this.registry.resolve(target)), act);
  }

  /** Stops all, the last one first, and forgets them. No verb is taken from now on. */
  async close(): Promise<Outcome[]> {
    const outcomes = await this.#stopAll({});
    for (const process of this.registry.list()) this.registry.remove(process);
    await this.scheduler.sync();
    return outcomes;
  }

  /** Stops all, the last one first; they stay registered. No verb is taken from now on. */
  shutDown(): Promise<Outcome[]> {
    return this.#stopAll({ reason: "shutdown" });
  }

  #stopAll(request: StopRequest): Promise<Outcome[]> {
    this.#closing = true;
    this.scheduler.close();
    return runWaves(reversed(inWaves(this.registry.list())), (process) => process.stop(request));
  }

  /** Lets go of all processes and leaves them running. */
  release(): void {
    this.#closing = true;
    this.scheduler.close();
    void this.logs.close();
    this.registry.close();
    for (const process of this.registry.list()) process.release();
    this.#hub.close();
  }

  #infos(processes: readonly ManagedProcess[]): ProcessInfo[] {
    const usage = this.usage.sample(processes);
    return processes.map((process) => process.info(usage(process)));
  }

  #refuseClosed(): void {
    if (this.#closing) throw new ProcsupError("closed", "The supervisor is shutting down");
  }
}
