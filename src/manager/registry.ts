/** The supervised apps and their processes. Records and publishes their changes. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import { instanceNames } from "../model/name.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { type App, finalResult, newApp, type Release, reportOf } from "../model/app.ts";
import { endCauseOf, publishedChanges } from "../model/published_changes.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { type Input, NEW, type PendingRequest, type Snapshot } from "../model/process_state.ts";
import { refuseNeverMet, startWaves } from "../model/start_order.ts";
import { hasEventHook } from "../model/webhook_rules.ts";
import type { Clock } from "../platform/clock.ts";
import { ManagedProcess } from "../process/managed_process.ts";
import type { Machine } from "../process/process_actor.ts";
import type { StopRequest } from "../process/process_requests.ts";
import type { World } from "../platform/world.ts";
import { awaitDependencies, isAwaitedToEnd } from "./dependencies.ts";
import { ordered, type Outcome, runWaves } from "./bulk.ts";
import type { AppDirectory } from "./app_directory.ts";
import type { EventHub } from "./event_hub.ts";
import { IdleSockets } from "./idle_sockets.ts";
import { type AppOwner, beingDeleted, ManagedApp } from "./managed_app.ts";
import { Recorder } from "./recorder.ts";
import { type FoundRecords, type ProcessRecord, type RecordPaths, Records } from "./records.ts";
import type { RetriedWrites } from "../platform/files/retried_writes.ts";

/** Logs a problem. */
export type Warn = (message: string) => void;

/** What the registry calls in the other rooms of a supervisor. */
export interface Peers {
  /** A process was launched. */
  launched(process: ManagedProcess): void;
  /** The snapshot of a process has changed. */
  changed(process: ManagedProcess, before: Snapshot): void;
  /** Changes the paths of a process's logs, which `act` does. */
  moveLogs(process: ManagedProcess, act: () => void): Promise<void>;
}

interface RegistryParts {
  readonly world: World;
  readonly paths: RecordPaths;
  readonly directory: AppDirectory;
  readonly hub: EventHub;
  /** Failed writes of the home. */
  readonly writes: RetriedWrites;
  readonly warn: Warn;
  readonly peers: Peers;
}

/** All apps and processes of a manager. */
export class Registry implements Machine, AppOwner {
  readonly directory: AppDirectory;
  readonly world: World;
  readonly #records: Records;
  readonly writes: RetriedWrites;
  /** Writes the records. */
  readonly recorder: Recorder;
  readonly #hub: EventHub;
  readonly #sockets: IdleSockets;
  readonly #peers: Peers;
  readonly warn: Warn;
  readonly #releases = { done: 0, failed: 0, rolled_back: 0, superseded: 0 };
  #nextNumericId = 0;
  #isClosing = false;
  /** Hooks of removed processes that still run. */
  readonly #removedHooks = new Set<Promise<void>>();

  constructor({ world, paths, directory, hub, writes, warn, peers }: RegistryParts) {
    this.world = world;
    this.directory = directory;
    this.#records = new Records(paths);
    this.#hub = hub;
    this.writes = writes;
    this.#sockets = new IdleSockets(world, (name) => directory.app(name));
    this.#peers = peers;
    this.warn = warn;
    this.recorder = new Recorder(
      { clock: world.clock, records: this.#records, writes },
      (one, message) => one instanceof ManagedProcess ? this.note(one, message) : warn(message),
    );
  }

  get clock(): Clock {
    return this.world.clock;
  }

  /** Aborted when the supervisor ends. */
  get closed(): AbortSignal {
    return this.directory.closed;
  }

  /** Whether the supervisor shuts down: nothing is added or started any more. */
  get closing(): boolean {
    return this.#isClosing;
  }

  /** The supervisor shuts down. What is under way is left to the next one. */
  beginClosing(): void {
    this.#isClosing = true;
    for (const app of this.directory.apps()) app.next();
  }

  /** How many releases ended since this registry exists, by their result. */
  get releases(): Readonly<Record<NonNullable<Release["result"]>, number>> {
    return this.#releases;
  }

  /** Resolves when no hook of any process runs, removed ones included. */
  async hooksOver(): Promise<void> {
    const hooks = this.directory.list().map(({ journal }) => journal.over());
    await Promise.all([...hooks, ...this.#removedHooks]);
  }

  /**
   * Registers a configuration's instances, with `start` to be started unless they are a job. Throws
   * `name_taken`, or `invalid_config` for its dependencies.
   */
  add(config: ProcessConfig, { start = false } = {}): ManagedProcess[] {
    const names = instanceNames(config.name, config.instances);
    for (const name of [config.name, ...names]) this.#refuseTaken(name);
    this.checkDependencies(config);
    this.refuseClosed();
    return this.recorder.together(() => {
      const app = this.restoreApp(newApp(config));
      this.recorder.recordSoon(app);
      return names.map((name, index) => this.#create(app, name, index, start));
    });
  }

  /** Registers more instances of an app, to be started unless it is a job. */
  addInstances(app: ManagedApp, indexes: readonly number[]): ManagedProcess[] {
    return indexes.map((index) => this.#create(app, `${app.name}:${index}`, index, true));
  }

  /** Registers a recorded app. Its instances follow. */
  restoreApp(record: App): ManagedApp {
    const app = new ManagedApp(record, this);
    this.directory.put(app);
    // Its copy may be damaged, or missing if the earlier daemon was killed.
    this.recorder.copySoon(app);
    return app;
  }

  /**
   * Acts on one wave after the other. All are on record before the first begins: if the daemon is
   * killed meanwhile, the next one carries the request out for the others.
   */
  async inTurn(
    waves: readonly ManagedProcess[][],
    request: PendingRequest,
    act: (process: ManagedProcess) => Promise<void>,
    parallel = true,
  ): Promise<Outcome[]> {
    const all = waves.flat();
    if (all.length > 1) this.putOnRecord(all, request);
    const one = (process: ManagedProcess) => process.whilePending(request, () => act(process));
    return await runWaves(waves, one, parallel);
  }

  /** Records a request that each of these processes carries out later, by `whilePending()`. */
  putOnRecord(processes: readonly ManagedProcess[], request: PendingRequest): void {
    this.recorder.together(() => {
      for (const process of processes) process.post({ type: "pending", request });
    });
  }

  /** Gives the only instance of an app the name of an instance, and moves its logs. */
  async rename(process: ManagedProcess, name: string): Promise<void> {
    const before = process.name;
    await this.#peers.moveLogs(process, () => {
      // While its logs were rotated.
      if (process.isLeaving) throw beingDeleted(before);
      this.recorder.together(() => {
        process.rename(name);
        this.recordSoon(process);
        // At once: readers of its logs must look for them in the new folder.
        this.directory.announce(process, before);
      });
    });
  }

  /** Reads the records. Numeric ids are never reused. */
  readRecords(): FoundRecords {
    const found = this.#records.readAll();
    this.#nextNumericId = Math.max(this.#nextNumericId, found.nextNumericId);
    return found;
  }

  /** Sets the record of a process aside that cannot be restored. */
  giveUp(record: ProcessRecord, why: string): void {
    this.warn(`"${record.identity.name}": ${this.#records.giveUp(record, new Error(why))}`);
  }

  /** Removes the record of an app without instances. */
  discard(app: App): void {
    this.writes.attempt(`the removal of "${app.name}"`, () => this.#records.remove(app));
  }

  takeNumericId(): number {
    return this.#nextNumericId++;
  }

  /**
   * Registers a saved process, and its app if that does not exist, whose configuration decides the
   * snapshot. Throws `name_taken`.
   */
  resurrect(
    record: ProcessRecord,
    saved: App,
    atRest: (record: ProcessRecord, config: ProcessConfig) => Snapshot,
  ): ManagedProcess {
    const { name } = saved;
    if (record.identity.name === name) this.#refuseTaken(name);
    this.#refuseTakenName(record.identity.name);
    // An instance cannot be beside a single process of that name.
    if (this.directory.list().some((process) => process.name === name)) throw nameTaken(name);
    const app = this.directory.app(name) ?? this.restoreApp(saved);
    const snapshot = { ...atRest(record, app.wanted), generation: app.generation };
    const process = this.restore({ ...record, snapshot });
    app.recount();
    this.recordSoon(process);
    this.recorder.recordSoon(app);
    return process;
  }

  /**
   * Registers a recorded process. It gets a new numeric id if its own is taken. Accepts any
   * name: the supervisor must start.
   */
  restore(record: ProcessRecord): ManagedProcess {
    const taken = this.directory.list().some((process) =>
      process.identity.numericId === record.identity.numericId
    );
    const numericId = taken ? this.takeNumericId() : record.identity.numericId;
    const process = this.#register({ ...record, identity: { ...record.identity, numericId } });
    this.recorder.copySoon(process);
    return process;
  }

  /** Marks processes as being deleted: if the daemon is killed, the next one deletes them. */
  leave(processes: readonly ManagedProcess[]): void {
    this.recorder.together(() => {
      for (const process of processes) process.post({ type: "leaving", leaving: true });
    });
  }

  /** Stops a process and removes it. Dependents of its other instances do not wait for it. */
  async retire(process: ManagedProcess, request: StopRequest): Promise<void> {
    this.leave([process]);
    try {
      await process.stop(request);
      this.remove(process);
    } catch (error) {
      process.post({ type: "leaving", leaving: false });
      throw error;
    }
  }

  /**
   * Removes a stopped process. Throws `wrong_state` if it was started meanwhile, because the later
   * request wins, and `home_unusable` if its record cannot be removed.
   */
  remove(process: ManagedProcess): void {
    if (!AT_REST.has(process.snapshot.state)) {
      const why = `Cannot delete "${process.name}": it was started meanwhile`;
      throw new ProcsupError("wrong_state", why);
    }
    this.recorder.forget(process, this.#nextNumericId);
    process.forget();
    const over = process.journal.over().then(() => void this.#removedHooks.delete(over));
    this.#removedHooks.add(over);
    const app = this.directory.part(process);
    if (app.instances.length === 0) {
      // A record without instances is removed by the next daemon.
      ifPossible(() => this.recorder.forget(app, this.#nextNumericId));
    }
    this.dropUnusedSockets(app.name);
    this.#hub.publishOf(process, "deleted", { reason: "" });
  }

  /** Closes the sockets of a process that none of its instances needs any more. */
  dropUnusedSockets(name: string): void {
    this.#sockets.drop(name);
  }

  record(process: ManagedProcess): void {
    if (this.directory.has(process)) this.recorder.record(process);
  }

  whenRecorded(process: ManagedProcess, act: () => void): void {
    this.recorder.whenRecorded(process, act);
  }

  recordSoon(process: ManagedProcess): void {
    if (this.directory.has(process)) this.recorder.recordSoon(process);
  }

  /** Writes for the last time. */
  close(): void {
    this.directory.close();
    this.#sockets.close();
    this.writes.close();
    this.recorder.freeze();
  }

  /** Stops all writes: another supervisor owns the home now. */
  abandonRecords(): void {
    this.writes.abandon();
    this.recorder.abandon();
  }

  /** Writes all records again after their files were removed. */
  recordAnew(): void {
    this.recorder.recordAnew(
      [...this.directory.apps(), ...this.directory.list()],
      this.#nextNumericId,
    );
  }

  changed(process: ManagedProcess, before: Snapshot, input: Input): void {
    const now = process.snapshot;
    if (now.run !== null && now.run.runId !== before.run?.runId) this.#peers.launched(process);
    this.#peers.changed(process, before);
    this.#sockets.changed(process, before);
    if (!this.#hub.idle || hasEventHook(process.config)) {
      this.#publishChanges(process, before, input);
    }
    this.directory.app(process.identity.app)?.changed(process, before, input);
  }

  #publishChanges(process: ManagedProcess, before: Snapshot, input: Input): void {
    const now = process.snapshot;
    for (const type of publishedChanges(before, now, input, process.config)) {
      const cause = endCauseOf(type, before, now, input, process.config);
      const isLate = type === "restarted" && now.state !== "running";
      // The reason of its state is from the time of the earlier daemon, or that of a later end.
      this.#hub.publishOf(process, type, {
        ...type === "adopted" && { reason: "" },
        ...isLate && { reason: before.lastReason },
        ...cause !== undefined && { cause },
      });
    }
  }

  released({ name, record }: ManagedApp, release: Release): void {
    const result = finalResult(record, release);
    if (result !== undefined) this.#releases[result]++;
    const report = reportOf(record, release);
    if (report === undefined) return;
    const instances = this.directory.instancesOf(name);
    const process = instances.find((one) => one.name === report.instance) ?? instances[0];
    if (process === undefined) return;
    this.#hub.publishOf(process, report.type, { reason: report.reason, by: report.by });
  }

  healthChanged(process: ManagedProcess, health: "healthy" | "unhealthy", reason: string): void {
    this.#hub.publishOf(process, health, { reason });
    process.refresh();
  }

  mayEnd({ config }: ManagedProcess): boolean {
    return config.cron !== undefined || config.restartPolicy === "never" ||
      isAwaitedToEnd(config.name, this.directory.configs());
  }

  dependencies(process: ManagedProcess, signal: AbortSignal): Promise<void> {
    return awaitDependencies(() => this.directory.list(), process, signal);
  }

  refuseClosed(): void {
    if (this.#isClosing) throw new ProcsupError("closed", "The supervisor is shutting down");
  }

  note(process: ManagedProcess, message: string): void {
    this.warn(`"${process.name}": ${message}`);
    this.#hub.publishOf(process, "note", { reason: message });
  }

  #create(
    app: ManagedApp,
    name: string,
    instanceIndex: number,
    start: boolean,
  ): ManagedProcess {
    this.refuseClosed();
    const isStarted = start && app.wanted.cron === undefined;
    const process = this.#register({
      identity: {
        id: crypto.randomUUID(),
        numericId: this.takeNumericId(),
        app: app.name,
        name,
        instanceIndex,
        createdAt: new Date(this.world.clock.now()),
      },
      snapshot: {
        ...NEW,
        generation: app.generation,
        ...isStarted && { desired: "up", pending: { verb: "start" } },
      },
    });
    this.recordSoon(process);
    this.#hub.publishOf(process, "added", { reason: "" });
    return process;
  }

  #register({ identity, snapshot }: ProcessRecord): ManagedProcess {
    const app = this.directory.app(identity.app)!;
    const process = new ManagedProcess(identity, app, snapshot, this);
    this.directory.join(process);
    this.#nextNumericId = Math.max(this.#nextNumericId, identity.numericId + 1);
    return process;
  }

  /**
   * Dependencies must exist already, so only a change of an existing process can make a cycle.
   * Throws `invalid_config` with the missing dependency, or the cycle.
   */
  checkDependencies(config: ProcessConfig): void {
    const dependencies = Object.keys(config.dependsOn);
    const { name } = config;
    const others = this.directory.configs().filter((it) => it.name !== name);
    refuseNeverMet([config, ...others], name);
    if (dependencies.length === 0) return;
    const known = new Set([name, ...others.map((other) => other.name)]);
    for (const dependency of dependencies) {
      if (known.has(dependency)) continue;
      const near = nearestWord(dependency, known);
      const what = `Invalid "depends_on": there is no process "${dependency}"`;
      throw new ProcsupError("invalid_config", withNearest(what, near));
    }
    // A new process cannot have dependents yet.
    const isNew = this.directory.app(name) === undefined;
    startWaves(isNew ? [config] : [config, ...others], ordered);
  }

  #refuseTaken(name: string): void {
    if (this.directory.app(name) !== undefined) throw nameTaken(name);
    this.#refuseTakenName(name);
  }

  /** Throws `name_taken` if a process has that name. */
  #refuseTakenName(name: string): void {
    const taken = this.directory.list().find((process) => process.name === name);
    if (taken !== undefined) throw nameTaken(name);
  }
}

function nameTaken(name: string): ProcsupError {
  return new ProcsupError("name_taken", `The name "${name}" is taken`, {
    field: "name",
    hint: {
      text: "Choose another name, or restart it",
      command: { verb: "restart", target: name },
    },
  });
}
