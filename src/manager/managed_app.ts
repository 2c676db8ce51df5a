/**
 * One app: holds what is wanted of it, asks the plan what to do after every input, performs the
 * steps by the verbs of its instances, and answers the requests that wait for the end of a release.
 */

import {
  type App,
  begun,
  failed,
  generationOf,
  joined,
  noted,
  proven,
  type Release,
  type ReleaseInfo,
  releaseInfo,
  type ReleaseOptions,
  resized,
  spared,
  specOf,
  wantedConfig,
  withCount,
} from "../model/app.ts";
import { getsRun, type Instance, plan, type Step } from "../model/app_plan.ts";
import { configChanges, type FieldChange, needsRestart } from "../model/config_diff.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { DesiredState, Input, Snapshot } from "../model/process_state.ts";
import { withoutName } from "../model/start_failed.ts";
import { wantsReadiness } from "../model/transition_steps.ts";
import type { Clock } from "../platform/clock.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { refuseEndless, type StopRequest, type UpOptions } from "../process/process_requests.ts";
import { asProcsupError, isJob, type Outcome, runBulk } from "./bulk.ts";
import type { Recorder } from "./recorder.ts";
import type { Recorded } from "./records.ts";
import { type ReleaseResult, ReleaseWaiters } from "./release_waiters.ts";

/** What an app needs of its registry. */
export interface AppOwner {
  readonly clock: Clock;
  readonly recorder: Recorder;
  /** Whether the supervisor shuts down: the next one continues. */
  readonly closing: boolean;
  addInstances(app: ManagedApp, indexes: readonly number[]): ManagedProcess[];
  retire(process: ManagedProcess, request: StopRequest): Promise<void>;
  rename(process: ManagedProcess, name: string): Promise<void>;
  dropUnusedSockets(name: string): void;
  /** A release has begun or is over. */
  released(app: ManagedApp, release: Release): void;
  warn(message: string): void;
}

/** A change that is asked for. */
export interface ChangeRequest extends ReleaseOptions, Pick<UpOptions, "askedIn"> {
  /** Undefined: the same configuration again. */
  readonly config?: ProcessConfig | undefined;
  /** Instances that get a new run, even if nothing has changed. */
  readonly replaced: readonly ManagedProcess[];
  /** What changes for them besides the configuration. */
  readonly changes: readonly FieldChange[];
  /** More instances, which are added once it is done. */
  readonly more?: Growth | undefined;
  /** Whether it waits for its turn; see `hold()`. */
  readonly isHeld?: boolean | undefined;
}

/** A larger number of instances. */
export interface Growth {
  readonly count: number;
  readonly options: UpOptions;
}

/** The result of a change, with outcomes of the instances that got a new run. */
export interface ChangeResult {
  readonly outcomes: readonly Outcome[];
  readonly rolledBack: boolean;
  readonly fields: readonly FieldChange[];
  /** Those that keep their run: they use it from their next start. */
  readonly kept: readonly ManagedProcess[];
  readonly isFailed: boolean;
  /** Whether a later request has set the number of instances. */
  readonly isScaled: boolean;
}

/** A step under way on an instance. */
interface UnderWay {
  readonly generation: number;
  readonly work: Promise<unknown>;
}

/** A change of the number of instances. */
interface Resizing {
  readonly options: UpOptions;
  /** Of removals and starts, in this order. */
  readonly outcomes: Promise<Outcome[]>[];
  readonly over: PromiseWithResolvers<void>;
}

/** Who asks, unless it is said. */
export const USER = "user";

export class ManagedApp implements Recorded {
  readonly #owner: AppOwner;
  #app: App;
  readonly #instances = new Set<ManagedProcess>();
  readonly #steps = new Map<ManagedProcess, UnderWay>();
  readonly #waiters: ReleaseWaiters;
  #resizing: Resizing | undefined;
  #isRenaming = false;
  /** The request that holds it back until its earlier waves are over. */
  #hold: object | undefined;
  /** Whether the plan is to be asked soon. */
  #isDue = false;
  #isPlanning = false;
  #again = false;

  constructor(app: App, owner: AppOwner) {
    this.#app = app;
    this.#owner = owner;
    this.#waiters = new ReleaseWaiters(() => this.#app);
  }

  get name(): string {
    return this.#app.name;
  }

  get record(): App {
    return this.#app;
  }

  /** The configuration that is wanted. */
  get wanted(): ProcessConfig {
    return wantedConfig(this.#app);
  }

  get generation(): number {
    return generationOf(this.#app);
  }

  specOf(generation: number): ProcessConfig {
    return specOf(this.#app, generation);
  }

  /** Whether a release is under way. */
  get isChanging(): boolean {
    return this.#app.release !== undefined;
  }

  /** The last releases, the newest last. */
  get releases(): readonly ReleaseInfo[] {
    const { history, release } = this.#app;
    return [...history, ...release === undefined ? [] : [release]]
      .map((one) => releaseInfo(this.#app, one));
  }

  /** By numeric id. */
  get instances(): ManagedProcess[] {
    return [...this.#instances]
      .sort((one, other) => one.identity.numericId - other.identity.numericId);
  }

  /** Those that are not being deleted. */
  get staying(): ManagedProcess[] {
    return this.instances.filter(({ isLeaving }) => !isLeaving);
  }

  /** Those that get a new run if a configuration needs one. The others are at rest. */
  replacedBy(config: ProcessConfig): ManagedProcess[] {
    return this.staying.filter((process) => getsRun(this.#app, this.#seen(process), config));
  }

  /** Registers an instance. */
  join(process: ManagedProcess): void {
    this.#instances.add(process);
  }

  /** Forgets an instance that is gone. */
  part(process: ManagedProcess): void {
    this.#instances.delete(process);
    if (!process.snapshot.leaving) this.recount(true);
    this.next();
  }

  /** What a configuration would change: of what is wanted, or of an instance that differs from it. */
  changesTo(config: ProcessConfig): readonly FieldChange[] {
    const { instances } = this.wanted;
    const given = { ...config, instances };
    const changes = configChanges(this.wanted, given);
    if (changes.length > 0) return changes;
    return this.staying
      .map(({ snapshot }) => configChanges(this.specOf(snapshot.generation), given))
      .find((changes) => changes.length > 0) ?? [];
  }

  /** Makes a change, and resolves when its release is over. Throws if it cannot be recorded. */
  async change(request: ChangeRequest): Promise<ChangeResult> {
    const { config, replaced, changes, more, askedIn, isHeld, ...how } = request;
    if (!isHeld) this.#hold = undefined;
    const members = this.staying;
    const fields = [...config === undefined ? [] : this.changesTo(config), ...changes];
    const untried = { rolledBack: false, fields, kept: [], isScaled: false };
    if (config !== undefined && fields.length === 0 && replaced.length === 0) {
      return { ...untried, outcomes: [], isFailed: false };
    }
    const endless = members.flatMap((process) => refusalOf(process, askedIn));
    if (endless.length > 0 && (replaced.length > 0 || needsRestart(fields))) {
      return { ...untried, outcomes: endless, isFailed: true };
    }
    if (!this.#isNew(request)) this.#set(joined(this.#app, how));
    else this.#begin({ ...how, fields, reload: replaced.map(({ id }) => id), more }, config);
    const added = this.#app.release?.growsBy && more ? this.#resized(more.options) : undefined;
    // It may end before the release: what is deleted grows no more.
    added?.catch(() => {});
    const result = this.#waiters.wait(this.generation, {
      ...{ config: this.wanted, members, options: { askedIn, wait: how.waitReady } },
    });
    this.#nextSoon();
    const { rolledBack, isFailed, isScaled, ...replacing } = await result;
    const isGone = this.staying.length === 0;
    const outcomes = [...replacing.outcomes, ...isFailed || isGone ? [] : await added ?? []];
    const tried = new Set(outcomes.map(({ process }) => process));
    const kept = isFailed ? [] : members.filter((process) => !tried.has(process));
    return { outcomes, rolledBack, fields, kept, isFailed, isScaled };
  }

  /** False if the same change is under way already. */
  #isNew({ config, replaced }: ChangeRequest): boolean {
    if (replaced.length > 0 || config === undefined || !this.isChanging) return true;
    const given = { ...config, instances: this.wanted.instances };
    return configChanges(this.wanted, given).length > 0;
  }

  #begin(
    { fields, more, ...how }: ReleaseOptions & Pick<ChangeRequest, "more"> & {
      fields: readonly FieldChange[];
      reload: string[];
    },
    config: ProcessConfig | undefined,
  ): void {
    const before = this.#app;
    const { instances } = this.wanted;
    const isSame = config === undefined || configChanges(this.wanted, { ...config, instances })
          .length === 0;
    const at = this.#owner.clock.now();
    const growsBy = Math.max(0, (more?.count ?? 0) - instances);
    const growth = { field: "instances", from: instances, to: more?.count };
    this.#app = begun(before, {
      ...{ ...how, changes: growsBy > 0 ? [...fields, growth] : fields, growsBy, at },
      ...!isSame && { config: config.instances === instances ? config : { ...config, instances } },
    });
    try {
      this.#owner.recorder.record(this);
    } catch (error) {
      this.#app = before;
      throw error;
    }
    this.#publishReleases(before);
  }

  /**
   * Sets the number of instances, and resolves with the outcomes when they are there. The starts take
   * no turn: one may wait for a dependency without a time limit.
   */
  async resize(
    count: number,
    by: string = USER,
    options: UpOptions = {},
  ): Promise<Outcome[]> {
    const { instances } = this.wanted;
    const changes = [{ field: "instances", from: instances, to: count }];
    const at = this.#owner.clock.now();
    const next = resized(this.#app, count);
    this.#set(count === instances ? next : noted(next, { by, changes, at }));
    return await this.#resized(options);
  }

  /** Resolves with the outcomes when as many instances are there as are wanted. */
  async #resized(options: UpOptions): Promise<Outcome[]> {
    const resizing = this.#resizing ??= {
      ...{ options, outcomes: [], over: Promise.withResolvers() },
    };
    this.#nextSoon();
    await resizing.over.promise;
    return (await Promise.all(resizing.outcomes)).flat();
  }

  /** An instance is deleted, or is back: so many are wanted. */
  recount(isFewer = false): void {
    const [count, { instances }] = [this.staying.length, this.wanted];
    const isOff = isFewer ? count < instances : count > instances;
    if (!isOff || count === 0) return;
    // Some may still have to be added.
    this.#set(withCount(this.#app, this.#app.isResizing && isFewer ? instances - 1 : count));
  }

  /**
   * Keeps it from acting until the returned function is called, or another request comes that does
   * not wait. What is asked is on record.
   */
  hold(): () => void {
    const hold = this.#hold = {};
    return () => {
      if (this.#hold !== hold) return;
      this.#hold = undefined;
      this.next();
    };
  }

  /** Resolves when the release under way is over. */
  released(): Promise<ReleaseResult> {
    const [config, members] = [this.wanted, this.staying];
    return this.#waiters.wait(this.generation, { config, members, options: {} });
  }

  /** Something happened to an instance. */
  changed(process: ManagedProcess, { leaving }: Snapshot, input: Input): void {
    if (leaving !== process.snapshot.leaving) this.recount(process.snapshot.leaving);
    const isStopped = input.type === "stop_requested" && input.cause !== "release";
    if (isStopped) this.#set(spared(this.#app, process.id));
    if (this.#hasToDo) this.#nextSoon();
  }

  /**
   * Not while a process handles an input, which would take its step later, nor before a joint record
   * is written: no step may be ahead of it.
   */
  #nextSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.next();
    });
  }

  /** Performs the next steps. */
  next(): void {
    if (this.#isPlanning) {
      this.#again = true;
      return;
    }
    this.#isPlanning = true;
    try {
      do {
        this.#again = false;
        if (this.#owner.closing) this.#close();
        else if (this.#hold === undefined && this.#hasToDo) this.#perform();
      } while (this.#again);
    } finally {
      this.#isPlanning = false;
    }
    this.#waiters.answer();
  }

  /** Answers all requests: the next supervisor goes on. */
  #close(): void {
    this.#waiters.close();
    this.#resizing?.over.reject(new ProcsupError("closed", "The supervisor is shutting down"));
    this.#resizing = undefined;
  }

  get #hasToDo(): boolean {
    return this.isChanging || this.#app.isResizing === true;
  }

  #perform(): void {
    const { instances, isChanging } = this;
    for (const process of instances) this.#takeUp(process);
    const { app, steps } = plan(
      this.#app,
      instances.map((process) => this.#seen(process)),
      this.#owner.clock.now(),
    );
    const byId = new Map(instances.map((process) => [process.id, process]));
    // One record: assigned instances and added ones are what ends a change.
    const added = this.#owner.recorder.together(() => {
      this.#set(app);
      return steps.flatMap((step) => {
        if (step.type === "add") return this.#owner.addInstances(this, step.indexes);
        if (step.type === "assign") byId.get(step.id)!.post({ ...step, type: "generation" });
        return [];
      });
    });
    if (added.length > 0) this.#start(added);
    for (const step of steps) if ("id" in step) this.#act(step.type, byId.get(step.id)!);
    if (isChanging && !this.isChanging) {
      this.#owner.dropUnusedSockets(this.name);
      // Instances that it adds.
      this.#again = true;
    }
    this.#endResizing();
  }

  #seen(process: ManagedProcess): Instance {
    const { id, instanceIndex: index, name, isLeaving, snapshot } = process;
    const { state, desired, run, leftovers, generation, requests } = snapshot;
    const ending = [...leftovers, ...run !== null && state === "stopping" ? [run] : []];
    const asked = requests.findLast((request) => request.generation !== undefined);
    return {
      ...{ id, index, generation, isLeaving, isSingle: name === this.name },
      replacing: this.#steps.get(process)?.generation ?? asked?.generation,
      isUp: desired === "up",
      hasEnded: desired === "up" && state === "stopped",
      hasRun: run !== null,
      isServing: state === "running",
      isComingUp: desired === "up" && (state === "starting" || state === "stopping"),
      draining: ending.flatMap((run) => run.generation ?? []),
    };
  }

  /** Waits for a step that an earlier daemon began. */
  #takeUp(process: ManagedProcess): void {
    const { release } = this.#app;
    if (!release?.begun.includes(process.id) || this.#steps.has(process)) return;
    if (release.done.includes(process.id)) return;
    const work = process.underWay(release.generation);
    if (work !== undefined) this.#await(process, () => work);
  }

  #act(type: Step["type"], process: ManagedProcess): void {
    switch (type) {
      case "remove":
        return this.#remove(process);
      case "rename":
        return this.#rename(process);
      case "hold":
        return this.#holdForSchedule(process);
      case "prove":
        return this.#await(process, () => process.untilProven());
      case "replace":
        return this.#replace(process);
    }
  }

  #replace(process: ManagedProcess): void {
    const { generation, undoes, waitReady } = this.#app.release!;
    const { askedIn } = this.#waiters.options(generation);
    const reason = undoes === undefined ? "reloaded by user" : "rolled back";
    const { overlap, healthCheck, ...config } = this.wanted;
    // A second run takes over only once it is proven, and one without checks has been up for as long.
    const isProven = overlap && process.snapshot.state === "running" ||
      healthCheck === undefined && !wantsReadiness(config);
    this.#await(process, async () => {
      await process.replace({ generation, wait: waitReady, reason, askedIn });
      if (waitReady && !isProven) await process.untilProven();
    });
  }

  /** From now on only its schedule starts it. Recorded with the stop. */
  #holdForSchedule(process: ManagedProcess): void {
    const { generation } = this.#app.release!;
    const before = process.snapshot.generation;
    this.#await(process, async () => {
      const stopped = this.#owner.recorder.together(() => {
        process.post({ type: "generation", generation });
        return process.stop({ reason: "stopped to wait for its schedule", cause: "release" });
      });
      try {
        await stopped;
      } catch (error) {
        process.post({ type: "generation", generation: before });
        throw error;
      }
    }, "down");
  }

  /**
   * Waits for a step of the release, and makes its result an input. An error is a failure only
   * while the instance is `desired` as the step leaves it.
   */
  #await(
    process: ManagedProcess,
    act: () => Promise<unknown>,
    desired: DesiredState = "up",
  ): void {
    const { generation } = this.#app.release!;
    const work = runBulk([process], act).then(([outcome]) => {
      if (this.#steps.get(process) === underWay) this.#steps.delete(process);
      this.#over(generation, outcome!, desired);
    });
    const underWay: UnderWay = { generation, work };
    this.#steps.set(process, underWay);
    this.#waiters.begun(generation);
  }

  #over(generation: number, outcome: Outcome, desired: DesiredState): void {
    const { process, error, lastWords } = outcome;
    this.#waiters.done(generation, outcome);
    if (this.#app.release?.generation === generation && !this.#owner.closing) {
      // Stopped, started or deleted meanwhile: that is no failure of the release.
      const isFailure = error !== undefined && !process.isLeaving &&
        process.snapshot.desired === desired;
      const { id, name } = process;
      if (isFailure) {
        this.#set(failed(this.#app, id, {
          instance: name,
          reason: withoutName(error.message),
          lastLines: lastWords?.lastOutput ?? [],
        }));
      } else {
        // Recorded with the next step. If that is lost, the next daemon proves it again.
        this.#app = proven(this.#app, [id]);
        this.#owner.recorder.recordSoon(this);
      }
    }
    this.next();
  }

  #start(added: readonly ManagedProcess[]): void {
    const options = this.#resizing?.options ?? {};
    const start = async (process: ManagedProcess) => isJob(process) || await process.start(options);
    const started = runBulk(added, start);
    this.#resizing?.outcomes.push(started);
  }

  #remove(process: ManagedProcess): void {
    const removed = runBulk(
      [process],
      () => this.#owner.retire(process, { reason: "scaled down" }),
    );
    this.#resizing?.outcomes.push(removed);
    void removed.then(() => this.next());
  }

  #rename(process: ManagedProcess): void {
    if (this.#isRenaming) return;
    this.#isRenaming = true;
    this.#owner.rename(process, `${this.name}:${process.instanceIndex}`).catch((error) => {
      this.#set({ ...withCount(this.#app, 1), isResizing: undefined });
      this.#resizing?.over.reject(error);
      this.#resizing = undefined;
    }).finally(() => {
      this.#isRenaming = false;
      this.next();
    });
  }

  #endResizing(): void {
    const resizing = this.#resizing;
    if (resizing === undefined || this.#app.isResizing) return;
    this.#resizing = undefined;
    if (this.staying.length > 0) resizing.over.resolve();
    else resizing.over.reject(beingDeleted(this.name));
  }

  /** Records a change. Later ones are recorded again, if the disk refuses this one. */
  #set(app: App): void {
    const before = this.#app;
    if (app === before) return;
    this.#app = app;
    try {
      this.#owner.recorder.record(this);
    } catch (error) {
      this.#owner.warn(messageOf(error));
    }
    this.#publishReleases(before);
  }

  #publishReleases(before: App): void {
    const known = new Set([...before.history, before.release]);
    for (const release of this.#app.history) {
      if (!known.has(release)) this.#owner.released(this, release);
    }
    const { release } = this.#app;
    if (release !== undefined && release.generation !== before.release?.generation) {
      this.#owner.released(this, release);
    }
  }
}

/** Refuses to change an app of which nothing stays. */
export function beingDeleted(name: string): ProcsupError {
  return new ProcsupError("wrong_state", `Cannot scale "${name}": it is being deleted`);
}

/** The refusal of a change that would wait for the hook that requests it; empty otherwise. */
function refusalOf(process: ManagedProcess, askedIn: UpOptions["askedIn"]): Outcome[] {
  try {
    refuseEndless("reload", process, { askedIn });
    return [];
  } catch (error) {
    return [{ process, error: asProcsupError(error) }];
  }
}
