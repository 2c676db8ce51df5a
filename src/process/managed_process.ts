/** One supervised process: an actor. Its snapshot changes in one place, by the pure `transition()`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NO_USAGE, type ProcessInfo, type Usage } from "../model/process_info.ts";
import type { Input, PendingRequest, Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { transition } from "../model/transition.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { logPaths } from "../model/log_paths.ts";
import { type LogFiles, logFiles, prepareLogFiles } from "../logs/log_files.ts";
import type { Clock } from "../platform/clock.ts";
import { startAndWait, staysUp, Waiters } from "./start_and_wait.ts";
import { Effects } from "./effects.ts";
import type { Journal } from "./journal.ts";
import { Mailbox } from "../platform/concurrency.ts";
import {
  refuseEndless,
  type RestartOptions,
  type StopRequest,
  type UpOptions,
} from "./process_handle.ts";
import type { World } from "./world.ts";

export interface Identity {
  /** UUID. */
  readonly id: string;
  readonly numericId: number;
  /** With an index if there are several instances: `api:0`. */
  readonly name: string;
  readonly instanceIndex: number;
  readonly createdAt: Date;
}

/** Callbacks of a process to its owner. */
export interface Observer {
  /** Records the process before anything is done with it. May throw: a launch is then refused. */
  record(process: ManagedProcess): void;
  /** The same, within moments, for what a new daemon could find out by itself, or do once more. */
  recordSoon(process: ManagedProcess): void;
  /** Calls `act` once the current state is recorded: at once, unless the disk refused. */
  whenRecorded(process: ManagedProcess, act: () => void): void;
  /** The snapshot changed, or a note was made. */
  changed(process: ManagedProcess, before: Snapshot, input: Input): void;
  /** A message for the supervisor's log. */
  note(process: ManagedProcess, message: string): void;
  /** The result of its health checks changed. */
  healthChanged(process: ManagedProcess, health: "healthy" | "unhealthy", reason: string): void;
  /** Whether a process is expected to end by itself: its start then counts as successful. */
  mayEnd(process: ManagedProcess): boolean;
  /** Resolves when the dependencies are ready; throws the reason if one cannot become ready. */
  dependencies(process: ManagedProcess, signal: AbortSignal): Promise<void>;
  /** Throws `closed` once the supervisor shuts down: nothing starts any more. */
  refuseClosed(): void;
}

/** One supervised process. */
export class ManagedProcess {
  #identity: Identity;
  #config: ProcessConfig;
  /** The configuration as it was set last: `#config`, except for the number of instances. */
  #givenConfig: ProcessConfig;
  /** The configuration of the run, until a reload with another one has replaced it. */
  #replacedConfig: ProcessConfig | undefined;
  /** The configuration of the second run of a reload with overlap, as it was set. */
  #successorConfig: ProcessConfig | undefined;
  readonly clock: Clock;
  readonly #apps: string;
  readonly #observer: Observer;
  readonly #effects: Effects;
  readonly #mailbox = new Mailbox<Input>((input) => this.#handle(input));
  readonly #waiters = new Waiters();
  #snapshot: Snapshot;
  #stops = 0;
  /** Stops under way, except those of its schedule. */
  #finalStops = 0;
  readonly #gone = new AbortController();
  /** Aborted with the reason when it is deleted or released. */
  readonly gone: AbortSignal = this.#gone.signal;
  readonly #deleted = new AbortController();
  /** Aborted when it is deleted, but not when its supervisor ends. */
  readonly deleted: AbortSignal = this.#deleted.signal;

  constructor(
    identity: Identity,
    config: ProcessConfig,
    snapshot: Snapshot,
    world: World,
    observer: Observer,
  ) {
    this.#identity = identity;
    this.#config = this.#givenConfig = config;
    this.#snapshot = snapshot;
    this.clock = world.clock;
    this.#apps = world.apps;
    this.#observer = observer;
    this.#effects = new Effects(this, world);
  }

  get identity(): Identity {
    return this.#identity;
  }

  get id(): string {
    return this.identity.id;
  }

  get name(): string {
    return this.identity.name;
  }

  /** Its configuration; a change takes effect at its next start. */
  get config(): ProcessConfig {
    return this.#config;
  }

  /** Whether it is expected to end by itself. */
  get mayEnd(): boolean {
    return this.#observer.mayEnd(this);
  }

  get instanceIndex(): number {
    return this.identity.instanceIndex;
  }

  /** Everything that decides what the process does next. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Milliseconds since the launch; 0 while nothing runs. */
  get uptimeMs(): number {
    return this.#effects.run.uptimeMs;
  }

  /** True while it is being deleted, and from then on. */
  get isLeaving(): boolean {
    return this.#snapshot.leaving || this.deleted.aborted;
  }

  get hasEnded(): boolean {
    return this.#effects.run.hasEnded;
  }

  /** The current state of the process, with the given usage. */
  info(usage: Usage = NO_USAGE): ProcessInfo {
    const now = this.#snapshot;
    return {
      ...usage,
      ...this.identity,
      namespace: this.config.namespace,
      runtime: this.#effects.runtime,
      state: now.state,
      ready: now.ready,
      health: this.#effects.run.health,
      pid: now.pid,
      exitCode: now.lastExit?.code ?? 0,
      lastExit: now.lastExit,
      restarts: now.restarts,
      startedAt: dateOrNull(now.startedAt),
      finishedAt: dateOrNull(now.finishedAt),
      nextRestartAt: dateOrNull(now.nextRestartAt),
      lastReason: now.lastReason,
      uptimeMs: this.uptimeMs,
      tags: this.config.tags,
      config: this.config,
    };
  }

  /** Paths of the logs of its run; at rest, of its next run. */
  get logs(): LogFiles {
    const { run } = this.#snapshot;
    return logFiles(
      this.#apps,
      this.name,
      run === null ? logPaths(this.config, this.instanceIndex) : run.logs,
    );
  }

  get folder(): string {
    return `${this.#apps}/${this.name}`;
  }

  /** The last runs of its hooks and health checks. */
  get journal(): Journal {
    return this.#effects.journal;
  }

  /** Starts it unless it runs. */
  async start(options: RestartOptions = {}): Promise<void> {
    this.#refuseStart("start");
    const { reason } = options;
    await this.#startAndWait({ type: "start_requested", ...(reason && { reason }) }, options);
  }

  /** Stops it and starts it again. */
  async restart(options: RestartOptions = {}): Promise<void> {
    refuseEndless("restart", this, options);
    const { reason = "restarted by user" } = options;
    await this.#before({ verb: "restart", reason });
    await this.#startAndWait({ type: "restart_requested", reason, hook: "postRestart" }, options);
  }

  /** Renames it and moves its logs. A running app keeps writing into them. */
  rename(name: string): void {
    this.#effects.moveLogs(name);
    this.#identity = { ...this.#identity, name };
  }

  /** Sets the configuration for its next start, except for the number of instances. */
  reconfigure(config: ProcessConfig): void {
    this.#givenConfig = config;
    this.#config = withInstances(config, this.#config.instances);
    this.#replacedConfig = undefined;
    this.#observer.record(this);
  }

  /** Sets the number of instances that its configuration shows. */
  recount(instances: number): void {
    this.#config = withInstances(this.#config, instances);
    this.#replacedConfig &&= withInstances(this.#replacedConfig, instances);
    this.#observer.record(this);
  }

  /**
   * Sets the configuration for a reload that follows. It is recorded once the run is left: if the
   * daemon is killed before that, the old run goes on with the old configuration. Throws
   * `start_failed` before any change if its logs cannot be created.
   */
  reconfigureForReload(config: ProcessConfig): void {
    const { state, run } = this.#snapshot;
    if (run === null || state === "stopping") return this.reconfigure(config);
    const logs = logPaths(config, this.instanceIndex);
    prepareLogFiles(this.folder, logFiles(this.#apps, this.name, logs));
    this.#replacedConfig ??= this.#config;
    this.#givenConfig = config;
    this.#config = withInstances(config, this.#config.instances);
  }

  /**
   * Call it when the reload with a configuration has failed. If the run that it was to replace goes
   * on, sets the configuration of that run, unless a later request has set another one.
   */
  keepRun(failed: ProcessConfig): void {
    const config = this.#replacedConfig;
    if (config !== undefined && this.wasGiven(failed)) this.reconfigure(config);
  }

  /** Whether this is the configuration that was set last, apart from the number of instances. */
  wasGiven(config: ProcessConfig): boolean {
    return this.#givenConfig === config;
  }

  /** What the next daemon must know of it. */
  get record(): { identity: Identity; config: ProcessConfig; snapshot: Snapshot } {
    const config = this.#replacedConfig ?? this.#config;
    return { identity: this.#identity, config, snapshot: this.#snapshot };
  }

  /**
   * Sends its reload signal; without one it is replaced with overlap, or stopped and started. So is
   * one on its way up or down, which may not handle the signal. Throws `wrong_state` if no
   * process can receive the signal.
   */
  async reload(options: UpOptions = {}): Promise<void> {
    refuseEndless("reload", this, options);
    const request = { verb: "reload" } as const;
    await this.whilePending(request, () => this.#reload(request, options));
  }

  async #reload(request: { readonly verb: "reload" }, options: UpOptions): Promise<void> {
    await this.#before(request);
    const { reloadSignal, overlap } = this.config;
    const { state } = this.#snapshot;
    const isRunning = state === "running";
    if (reloadSignal !== undefined && (isRunning || AT_REST.has(state))) {
      this.signal(reloadSignal);
      if (options.wait) await staysUp(this);
      return void this.#effects.hook("postReload");
    }
    if (overlap && isRunning) return await this.#effects.run.overlap();
    const reason = "reloaded by user";
    await this.#startAndWait({ type: "restart_requested", reason, hook: "postReload" }, options);
  }

  /** Sends a signal to the app itself. Throws `wrong_state` when it does not run. */
  signal(signal: SignalName): void {
    if (this.#effects.run.signal(signal)) return;
    this.#refuse("signal", "it is not running");
  }

  /** Number of stop requests so far. */
  get stops(): number {
    return this.#stops;
  }

  /** Whether a stop is in progress: its schedule must not start it meanwhile. */
  get isBeingStopped(): boolean {
    return this.#finalStops > 0;
  }

  /** Ends it and everything it started. Throws `stop_failed` naming what could not be ended. */
  async stop(request: StopRequest = {}): Promise<void> {
    const { timeoutMs = this.config.stopTimeoutMs, reason, bySchedule = false, then } = request;
    const ran = this.#snapshot.run !== null;
    this.#stops++;
    if (!bySchedule) this.#finalStops++;
    try {
      this.post({ type: "stop_requested", timeoutMs, ...(reason && { reason }) });
      const { endFailed, lastReason } = await this.until((now) => now.state !== "stopping");
      await this.#effects.run.othersGone(timeoutMs).catch((cause) => {
        const why = `cannot look for what it left behind: ${messageOf(cause)}`;
        throw new ProcsupError("stop_failed", `Cannot stop "${this.name}": ${why}`, { cause });
      });
      if (ran && endFailed) {
        throw new ProcsupError("stop_failed", `Cannot stop "${this.name}": ${lastReason}`);
      }
      // It may have been started again meanwhile.
      if (AT_REST.has(this.#snapshot.state)) await then?.();
    } finally {
      if (!bySchedule) this.#finalStops--;
    }
  }

  /** Carries out a request that an earlier daemon left, unless a later one has replaced it. */
  async carryOut(request: PendingRequest): Promise<void> {
    if (this.#snapshot.pending !== request) return;
    await this.whilePending(request, () => {
      if (request.verb === "stop") return this.stop(request);
      return request.verb === "restart" ? this.restart(request) : this[request.verb]();
    });
  }

  /** Acts on a pending request, and drops it if there was nothing to do. */
  async whilePending(request: PendingRequest, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } finally {
      this.drop(request);
    }
  }

  /** Drops a request that needs nothing any more, unless a later one has replaced it. */
  drop(request: PendingRequest): void {
    if (this.#snapshot.pending === request) this.post({ type: "pending", request: null });
  }

  /** Resolves with the first snapshot, the present one included, that fulfils the condition. */
  until(condition: (now: Snapshot) => boolean, signal?: AbortSignal): Promise<Snapshot> {
    return this.#waiters.until(condition, this.#snapshot, signal);
  }

  /** Checks waiting conditions again, after a change outside the snapshot. */
  refresh(): void {
    this.#waiters.tell(this.#snapshot);
  }

  /** Marks it as removed, so that stale references cannot start it. */
  forget(): void {
    this.#deleted.abort();
    this.release(new ProcsupError("wrong_state", `"${this.name}" was deleted meanwhile`));
  }

  /** Stops its timers. The app keeps running. */
  release(why = new ProcsupError("closed", "The supervisor is shutting down")): void {
    this.#gone.abort(why);
    this.#effects.close();
  }

  whenRecorded(act: () => void): void {
    this.#observer.whenRecorded(this, act);
  }

  /** Handles an input in its turn. Does nothing once the process was removed or released. */
  post(input: Input): void {
    if (!this.gone.aborted) this.#mailbox.post(input);
  }

  note(message: string): void {
    this.#observer.note(this, message);
  }

  healthChanged(health: "healthy" | "unhealthy", reason: string): void {
    this.#observer.healthChanged(this, health, reason);
  }

  dependencies(signal: AbortSignal): Promise<void> {
    return this.#observer.dependencies(this, signal);
  }

  /** Runs the hook before it. Throws if a stop or a shutdown was requested meanwhile. */
  async #before(request: PendingRequest & { verb: "restart" | "reload" }): Promise<void> {
    const { verb } = request;
    this.#refuseStart(verb);
    const stops = this.#stops;
    const hook = verb === "restart" ? "preRestart" : "preReload";
    // A change of its configuration is not on record yet: it is made when it is asked for again.
    const isRecorded = this.#replacedConfig === undefined;
    if (this.config.hooks[hook] !== undefined && isRecorded) {
      this.post({ type: "pending", request });
    }
    await this.#effects.hook(hook);
    if (this.#stops !== stops) this.#refuse(verb, "it was stopped meanwhile");
    this.#observer.refuseClosed();
  }

  async #startAndWait(input: Input, options: UpOptions): Promise<void> {
    try {
      await startAndWait(this, input, options);
    } catch (error) {
      // The shutdown stopped it: that is no failure of the app.
      this.#observer.refuseClosed();
      throw error;
    }
  }

  #refuseStart(verb: "start" | "restart" | "reload"): void {
    this.#observer.refuseClosed();
    if (this.gone.aborted) this.#refuse(verb, "it was deleted meanwhile");
  }

  #refuse(verb: string, why: string): never {
    throw new ProcsupError("wrong_state", `Cannot ${verb} "${this.name}": ${why}`);
  }

  #handle(input: Input): void {
    const before = this.#snapshot;
    const [next, effects] = transition(before, input, this.config);
    // A later daemon finds a process that has failed: nothing changes, but it is watched.
    if (next === before && effects.length === 0) return this.#effects.sources.follow(next);
    this.#snapshot = next;
    if (input.type === "successor_launching") this.#successorConfig = this.#givenConfig;
    if (next.state === "stopping" || next.run?.runId !== before.run?.runId) this.#runLeft(input);
    // The end of a run is published first: if the daemon is killed in between, the next one finds it
    // again, and webhooks report it twice rather than never.
    const isEnd = input.type === "exited" || input.type === "recovered";
    if (isEnd) this.#observer.changed(this, before, input);
    this.#record(input, next);
    if (!isEnd) this.#observer.changed(this, before, input);
    for (const effect of effects) this.#effects.perform(effect);
    this.#effects.sources.follow(next);
    this.#waiters.tell(next);
  }

  /** The configuration of the run is that of the next one now. */
  #runLeft(input: Input): void {
    const next = input.type === "replaced" ? this.#successorConfig! : this.#givenConfig;
    // A later reload with another configuration is still to come.
    const isReplaced = this.#replacedConfig !== undefined && !this.wasGiven(next);
    this.#replacedConfig = isReplaced ? withInstances(next, this.#config.instances) : undefined;
  }

  #record(input: Input, now: Snapshot): void {
    // The intent is recorded: with it recovery finds the run and its pid. A second stop signal is
    // the worst that a crash in between costs.
    if (["launched", "pid_known", "signalled", "released"].includes(input.type)) {
      return this.#observer.recordSoon(this);
    }
    try {
      this.#observer.record(this);
    } catch (error) {
      const message = messageOf(error);
      const failure = new ProcsupError("start_failed", message, { cause: error });
      // The next daemon would start an unrecorded app again, so it is not launched.
      if (input.type === "launching") throw failure;
      this.#observer.note(this, `${now.state}: ${message}`);
    }
  }
}

function withInstances(config: ProcessConfig, instances: number): ProcessConfig {
  return config.instances === instances ? config : { ...config, instances };
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
