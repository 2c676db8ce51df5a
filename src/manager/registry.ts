/** The supervised apps and their processes. Records and publishes their changes. */

import { nearestWord, withNearest } from "../model/nearest_word.ts";
import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { instanceNames } from "../model/name.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { type App, finalResult, newApp, type Release, reportOf } from "../model/app.ts";
import type { ChangeType, ProcessChange } from "../model/process_info.ts";
import { endCauseOf, publishedChanges } from "../model/transition.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { type Input, NEW, type PendingRequest, type Snapshot } from "../model/process_state.ts";
import { RestartTally } from "../model/restart_budget.ts";
import { refuseNeverMet, startWaves } from "../model/start_order.ts";
import {
  type Addressable,
  isNameOf,
  isWithin,
  resolveTarget,
  selectorOf,
  withoutGroup,
} from "../model/target.ts";
import type { Clock } from "../platform/clock.ts";
import { ManagedProcess } from "../process/managed_process.ts";
import type { Identity, Machine } from "../process/process_actor.ts";
import type { StopRequest } from "../process/process_requests.ts";
import type { World } from "../platform/world.ts";
import { awaitDependencies, isAwaitedToEnd } from "./dependencies.ts";
import { ordered, type Outcome, runWaves } from "./bulk.ts";
import type { EventHub } from "./event_hub.ts";
import { IdleSockets } from "./idle_sockets.ts";
import { type AppOwner, beingDeleted, ManagedApp } from "./managed_app.ts";
import { Recorder } from "./recorder.ts";
import { type FoundRecords, type ProcessRecord, type RecordPaths, Records } from "./records.ts";
import { RetriedWrites } from "../platform/files/retried_writes.ts";

interface EventSubject {
  /** UUID, or its first 8 characters. */
  readonly id: string;
  readonly name: string;
}

/** Logs a problem. */
export type Warn = (message: string) => void;

/** Called for each new process, and for a renamed one with its earlier name in `before`. */
type Watcher = (process: ManagedProcess, before?: string) => void;

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
  readonly hub: EventHub;
  readonly warn: Warn;
  readonly peers: Peers;
}

/** All apps and processes of a manager. */
export class Registry implements Machine, AppOwner {
  readonly #apps = new Map<string, ManagedApp>();
  readonly #processes = new Map<string, ManagedProcess>();
  readonly world: World;
  readonly #records: Records;
  /** Failed writes of the home. */
  readonly writes: RetriedWrites;
  /** Writes the records. */
  readonly recorder: Recorder;
  readonly #hub: EventHub;
  readonly #sockets: IdleSockets;
  readonly #peers: Peers;
  readonly warn: Warn;
  readonly #restarts = new RestartTally();
  /** Releases that ended since this registry exists, by their result. */
  readonly releases = { done: 0, failed: 0, rolled_back: 0, superseded: 0 };
  readonly #watchers = new Set<Watcher>();
  readonly #closed = new AbortController();
  #nextNumericId = 0;
  #isClosing = false;
  /** Hooks of removed processes that still run. */
  readonly #removedHooks = new Set<Promise<void>>();

  constructor({ world, paths, hub, warn, peers }: RegistryParts) {
    this.world = world;
    this.#records = new Records(paths);
    this.#hub = hub;
    this.#sockets = new IdleSockets(world, (name) => this.app(name));
    this.#peers = peers;
    this.warn = warn;
    this.writes = new RetriedWrites(world.clock, warn);
    this.recorder = new Recorder(
      { clock: world.clock, records: this.#records, writes: this.writes },
      (one, message) => one instanceof ManagedProcess ? this.note(one, message) : warn(message),
    );
  }

  get clock(): Clock {
    return this.world.clock;
  }

  /** Aborted when the supervisor ends. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Whether the supervisor shuts down: nothing is added or started any more. */
  get closing(): boolean {
    return this.#isClosing;
  }

  /** The supervisor shuts down. What is under way is left to the next one. */
  beginClosing(): void {
    this.#isClosing = true;
    for (const app of this.#apps.values()) app.next();
  }

  /** Automatic restarts of the last hour, since this registry exists. */
  get restartsLastHour(): number {
    return this.#restarts.lastHour(this.world.clock.steady());
  }

  /** Resolves when no hook of any process runs, removed ones included. */
  async hooksOver(): Promise<void> {
    const hooks = this.list().map(({ journal }) => journal.over());
    await Promise.all([...hooks, ...this.#removedHooks]);
  }

  /** Every process, by numeric id. */
  list(): ManagedProcess[] {
    // Restored processes come after newer ones in the map.
    return [...this.#processes.values()]
      .sort((one, other) => one.identity.numericId - other.identity.numericId);
  }

  /** All apps, in the order of their registration. */
  apps(): ManagedApp[] {
    return [...this.#apps.values()];
  }

  /** The app of a name, if there is one. */
  app(name: string): ManagedApp | undefined {
    return this.#apps.get(name);
  }

  /** The app of a process. */
  appOf({ identity: { app } }: ManagedProcess): ManagedApp {
    return this.#apps.get(app)!;
  }

  /** The configurations that are wanted. */
  configs(): ProcessConfig[] {
    return this.apps().map(({ wanted }) => wanted);
  }

  /** The instances of the app of that name. */
  instancesOf(name: string): ManagedProcess[] {
    return this.#apps.get(name)?.instances ?? [];
  }

  /**
   * The processes that a target addresses; see `resolveTarget()`. With `only`, no other processes
   * exist: see `isWithin()`.
   */
  resolve(target: string, minPrefix?: number, only?: readonly string[]): ManagedProcess[] {
    const found = resolveTarget(target, this.#within(only), minPrefix);
    return found.map(({ process }) => process);
  }

  #within(only: readonly string[] | undefined): AddressableProcess[] {
    const all = this.list().map(addressable);
    return only === undefined ? all : all.filter((process) => isWithin(only, process));
  }

  /**
   * A test for the events of the processes that a target addresses. A name, tag, namespace or label
   * also matches processes that are added later; an id stays that of one process. Throws like
   * `resolve()`. With `only`, no other processes exist: see `isWithin()`.
   */
  matcher(given: string, only?: readonly string[]): (subject: EventSubject) => boolean {
    if (given === "all" && only === undefined) return () => true;
    const all = this.#within(only);
    const found = resolveTarget(given, all);
    const target = withoutGroup(given, all);
    const isNamed = found.every(({ name }) => isNameOf(target, name));
    const selects = given === "all"
      ? () => true
      : selectorOf(target) ?? (isNamed ? ({ name }) => isNameOf(target, name) : undefined);
    if (isNamed && only === undefined) return ({ name }) => isNameOf(target, name);
    // The event of a deletion comes when the tags of the process are no longer known.
    const ids = new Set(found.map(({ id }) => shortId(id)));
    return ({ id }) => {
      const process = this.#processes.get(id);
      if (selects !== undefined && process !== undefined) {
        const now = addressable(process);
        if (selects(now) && (only === undefined || isWithin(only, now))) ids.add(shortId(id));
        else ids.delete(shortId(id));
      }
      return ids.has(shortId(id));
    };
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
    this.#apps.set(record.name, app);
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

  /** Notifies a watcher of changes until the returned function is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #announce(process: ManagedProcess, before?: string): void {
    for (const watcher of [...this.#watchers]) this.#notify(() => watcher(process, before));
  }

  /** Calls a listener, whose failure must not disturb a process. */
  #notify(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.warn(`A listener failed: ${messageOf(error)}`);
    }
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
        this.#announce(process, before);
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
    if (this.list().some((process) => process.name === name)) throw nameTaken(name);
    const app = this.#apps.get(name) ?? this.restoreApp(saved);
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
    const taken = this.list().some((process) =>
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
    this.#processes.delete(process.identity.id);
    const over = process.journal.over().then(() => void this.#removedHooks.delete(over));
    this.#removedHooks.add(over);
    const app = this.appOf(process);
    app.part(process);
    if (app.instances.length === 0) {
      this.#apps.delete(app.name);
      // A record without instances is removed by the next daemon.
      ifPossible(() => this.recorder.forget(app, this.#nextNumericId));
    }
    this.dropUnusedSockets(app.name);
    this.#publish(process, "deleted", "");
  }

  /** Closes the sockets of a process that none of its instances needs any more. */
  dropUnusedSockets(name: string): void {
    this.#sockets.drop(name);
  }

  record(process: ManagedProcess): void {
    if (this.#processes.has(process.identity.id)) this.recorder.record(process);
  }

  whenRecorded(process: ManagedProcess, act: () => void): void {
    this.recorder.whenRecorded(process, act);
  }

  recordSoon(process: ManagedProcess): void {
    if (this.#processes.has(process.identity.id)) this.recorder.recordSoon(process);
  }

  /** Writes for the last time. */
  close(): void {
    this.#closed.abort();
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
    this.recorder.recordAnew([...this.apps(), ...this.list()], this.#nextNumericId);
  }

  changed(process: ManagedProcess, before: Snapshot, input: Input): void {
    const now = process.snapshot;
    if (now.run !== null && now.run.runId !== before.run?.runId) this.#peers.launched(process);
    this.#peers.changed(process, before);
    this.#sockets.changed(process, before);
    const restarts = now.restarts - before.restarts;
    if (restarts > 0) this.#restarts.add(restarts, this.world.clock.steady());
    if (!this.#hub.idle) this.#publishChanges(process, before, input);
    this.#apps.get(process.identity.app)?.changed(process, before, input);
  }

  #publishChanges(process: ManagedProcess, before: Snapshot, input: Input): void {
    const now = process.snapshot;
    for (const type of publishedChanges(before, now, input, process.config)) {
      const cause = endCauseOf(type, before, now, input, process.config);
      // The reason of its state is from the time of the earlier daemon.
      const reason = type === "adopted" ? "" : undefined;
      this.#publish(process, type, reason, cause === undefined ? {} : { cause });
    }
  }

  released({ name, record }: ManagedApp, release: Release): void {
    const result = finalResult(record, release);
    if (result !== undefined) this.releases[result]++;
    const report = reportOf(record, release);
    if (report === undefined) return;
    const instances = this.instancesOf(name);
    const process = instances.find((one) => one.name === report.instance) ?? instances[0];
    if (process === undefined) return;
    this.#publish(process, report.type, report.reason, { by: report.by });
  }

  healthChanged(process: ManagedProcess, health: "healthy" | "unhealthy", reason: string): void {
    this.#publish(process, health, reason);
    process.refresh();
  }

  mayEnd({ config }: ManagedProcess): boolean {
    return config.cron !== undefined || config.restartPolicy === "never" ||
      isAwaitedToEnd(config.name, this.configs());
  }

  dependencies(process: ManagedProcess, signal: AbortSignal): Promise<void> {
    return awaitDependencies(() => this.list(), process, signal);
  }

  refuseClosed(): void {
    if (this.#isClosing) throw new ProcsupError("closed", "The supervisor is shutting down");
  }

  /** Publishes who asked for a change of a process. */
  asked(process: ManagedProcess, what: string, by: string): void {
    this.#publish(process, "asked", what, { by });
  }

  /** A run of its schedule is missing. */
  overdue(id: string, reason: string): void {
    const process = this.#processes.get(id);
    if (process !== undefined) this.#publish(process, "overdue", reason);
  }

  note(process: ManagedProcess, message: string): void {
    this.warn(`"${process.name}": ${message}`);
    this.#publish(process, "note", message);
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
    this.#publish(process, "added", "");
    return process;
  }

  #register({ identity, snapshot }: ProcessRecord): ManagedProcess {
    const app = this.#apps.get(identity.app)!;
    const process = new ManagedProcess(identity, app, snapshot, this);
    app.join(process);
    this.#processes.set(identity.id, process);
    this.#nextNumericId = Math.max(this.#nextNumericId, identity.numericId + 1);
    this.#announce(process);
    return process;
  }

  /**
   * Dependencies must exist already, so only a change of an existing process can make a cycle.
   * Throws `invalid_config` with the missing dependency, or the cycle.
   */
  checkDependencies(config: ProcessConfig): void {
    const dependencies = Object.keys(config.dependsOn);
    const { name } = config;
    const others = this.configs().filter((it) => it.name !== name);
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
    const isNew = !this.#apps.has(name);
    startWaves(isNew ? [config] : [config, ...others], ordered);
  }

  #refuseTaken(name: string): void {
    if (this.#apps.has(name)) throw nameTaken(name);
    this.#refuseTakenName(name);
  }

  /** Throws `name_taken` if a process has that name. */
  #refuseTakenName(name: string): void {
    const taken = this.list().find((process) => process.name === name);
    if (taken !== undefined) throw nameTaken(name);
  }

  #publish(
    process: ManagedProcess,
    type: ChangeType,
    reason = process.snapshot.lastReason,
    more: Pick<ProcessChange, "by" | "cause"> = {},
  ): void {
    const { state, pid, restarts, lastExit } = process.snapshot;
    this.#notify(() =>
      this.#hub.publish({
        type,
        at: new Date(this.world.clock.now()),
        id: process.identity.id,
        name: process.name,
        state,
        pid,
        restarts,
        reason,
        exit: lastExit,
        ...more,
      })
    );
  }
}

/** The id of a process in events on the wire and in the journal. */
function shortId(id: string): string {
  return id.slice(0, 8);
}

interface AddressableProcess extends Addressable {
  readonly process: ManagedProcess;
}

function addressable(process: ManagedProcess): AddressableProcess {
  const { namespace, tags, labels } = process.config;
  const { id, numericId, name } = process.identity satisfies Identity;
  return { id, numericId, name, namespace, tags, labels, process };
}

function nameTaken(name: string): ProcsupError {
  return new ProcsupError("name_taken", `The name "${name}" is taken`, {
    field: "name",
    hint: `Choose another name, or run: procsup restart ${name}`,
  });
}
