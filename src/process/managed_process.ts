/** One supervised process: an actor. Its snapshot changes in one place, by the pure `transition()`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NO_USAGE, type ProcessInfo, type Usage } from "../model/process_info.ts";
import type { Input, PendingRequest, ReplaceRequest, Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { transition } from "../model/transition.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { LOG_TROUBLES, type LogTrouble } from "../model/log_line.ts";
import { logPaths } from "../model/log_paths.ts";
import { type LogFiles, logFiles, prepareLogFiles } from "../logs/log_files.ts";
import type { Clock } from "../platform/clock.ts";
import type { Background } from "../platform/process_group.ts";
import {
  endedWell,
  settled,
  startAndWait,
  startFailed,
  untilUp,
  Waiters,
} from "./start_and_wait.ts";
import { Effects } from "./effects.ts";
import type { Journal } from "./journal.ts";
import { Mailbox } from "../platform/concurrency.ts";
import {
  refuseEndless,
  type ReplaceOptions,
  type RestartOptions,
  type StopRequest,
  type UpOptions,
} from "./process_handle.ts";
import type { World } from "../platform/world.ts";

export interface Identity {
  /** UUID. */
  readonly id: string;
  readonly numericId: number;
  /** Name of its app. */
  readonly app: string;
  /** With an index if there are several instances: `api:0`. */
  readonly name: string;
  readonly instanceIndex: number;
  readonly createdAt: Date;
}

/** What has the configurations of a process: its app. */
export interface Configured {
  /** The configuration of a generation. */
  specOf(generation: number): ProcessConfig;
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
  readonly #app: Configured;
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
    app: Configured,
    snapshot: Snapshot,
    world: World,
    observer: Observer,
  ) {
    this.#identity = identity;
    this.#app = app;
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

  /** The configuration that it has, or that a reload under way gives it. */
  get config(): ProcessConfig {
    const { requests, generation } = this.#snapshot;
    return this.specOf(requests.findLast((it) => it.generation)?.generation ?? generation);
  }

  specOf(generation: number): ProcessConfig {
    return this.#app.specOf(generation);
  }

  /** See `ProcessHandle`. */
  background(): Promise<Background | undefined> {
    return this.#effects.run.background();
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
      ...(now.logTrouble !== null && { logProblem: LOG_TROUBLES[now.logTrouble] }),
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
    return this.#effects.hooks.journal;
  }

  /** Starts it unless it runs. */
  async start(options: RestartOptions = {}): Promise<void> {
    this.#refuseStart("start");
    const { reason } = options;
    const input = { type: "start_requested", ...reason && { reason } } as const;
    await this.#unlessClosed(startAndWait(this, input, options));
  }

  /** Stops it and starts it again. */
  async restart(options: RestartOptions = {}): Promise<void> {
    const { reason = "restarted by user" } = options;
    await this.#carryOut({ verb: "restart", reason }, options);
  }

  /**
   * Sends its reload signal; without one it is replaced with overlap, or stopped and started. So is
   * one on its way up or down, which may not handle the signal. Throws `wrong_state` if no
   * process can receive the signal.
   */
  async reload(options: RestartOptions = {}): Promise<void> {
    const { reason = "reloaded by user", wait } = options;
    const request = { verb: "reload", reason, unchanged: true } as const;
    await this.#carryOut({ ...request, ...wait && { proof: true } }, options);
  }

  /**
   * Like `reload()`, to the configuration of another generation. A reload that fails leaves the old
   * configuration, and with overlap the old run. Throws `start_failed` before any change if its logs
   * cannot be created.
   */
  async replace(options: ReplaceOptions): Promise<void> {
    const { generation, reason = "reloaded by user", wait } = options;
    const config = this.specOf(generation);
    if (this.#snapshot.run !== null) {
      const paths = logPaths(config, this.instanceIndex);
      prepareLogFiles(this.folder, logFiles(this.#apps, this.name, paths));
    }
    const unchanged = config === this.specOf(this.#snapshot.generation);
    await this.#carryOut({
      ...{ verb: "reload", reason, generation },
      ...unchanged && { unchanged },
      ...wait && { proof: true },
    }, options);
  }

  /** Settles like the last request, if that leads to a generation; undefined without one. */
  underWay(generation = this.#snapshot.generation): Promise<void> | undefined {
    const { requests, generation: present } = this.#snapshot;
    const request = requests.findLast((one) => (one.generation ?? present) === generation);
    return request && this.#carriedOut(request, { wait: true });
  }

  /**
   * Resolves when its run is proven; see `proof()`. Throws `start_failed` with the reason when the
   * run is over before that, or takes too long.
   */
  async untilProven(): Promise<void> {
    const begun = await this.until((now) => settled(now, true), this.gone);
    const isLeft = (now: Snapshot) => now.attempt !== begun.attempt || now.state !== "running";
    const over = new AbortController();
    const left = this.until(isLeft, AbortSignal.any([over.signal, this.gone]));
    const problem = await Promise.race([left, this.#effects.run.proof(over.signal)])
      .finally(() => {
        left.catch(() => {});
        over.abort();
      });
    if (typeof problem === "string") {
      throw new ProcsupError("start_failed", `Cannot start "${this.name}": ${problem}`);
    }
    // Its end may be noticed late.
    if (problem === undefined && !this.hasEnded) return;
    const now = await this.until(isLeft, this.gone);
    if (endedWell(now, this.config) && this.mayEnd) return;
    throw startFailed({ name: this.name, snapshot: now });
  }

  /** Posts a request and waits until it is carried out. Throws why it was not. */
  async #carryOut(request: ReplaceRequest, options: UpOptions): Promise<void> {
    const { verb } = request;
    refuseEndless(verb, this, options);
    this.#refuseStart(verb);
    this.post({ type: "replace_requested", request });
    await this.#carriedOut(request, options);
  }

  async #carriedOut(request: ReplaceRequest, options: UpOptions): Promise<void> {
    const now = await this.until(({ requests }) => !requests.includes(request), this.gone);
    if (now.requestFailed !== null) return this.#failed(request, now);
    if (now.state === "running") {
      // The app has reloaded itself, or a second run has taken over: then the old one ends.
      const old = now.leftovers.filter(({ replaced }) => replaced).map(({ runId }) => runId);
      const isOver = ({ leftovers }: Snapshot) =>
        !leftovers.some(({ runId }) => old.includes(runId));
      return void await this.until(isOver, this.gone);
    }
    await this.#unlessClosed(untilUp(this, attemptBefore(now), options));
  }

  #failed(request: ReplaceRequest, now: Snapshot): void {
    this.#observer.refuseClosed();
    const { code, why, hint } = now.requestFailed!;
    // A job may end at its reload signal.
    if (request.proof && endedWell(now, this.config) && this.mayEnd) return;
    const what = `Cannot ${request.verb} "${this.name}": ${why}`;
    throw new ProcsupError(code, what, { hint });
  }

  /** Renames it and moves its logs. A running app keeps writing into them. */
  rename(name: string): void {
    this.#effects.moveLogs(name);
    this.#identity = { ...this.#identity, name };
  }

  /** What the next daemon must know of it. */
  get record(): { identity: Identity; snapshot: Snapshot } {
    return { identity: this.#identity, snapshot: this.#snapshot };
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

  /** Its app or another program truncated or moved its log. Told once for each run. */
  logTroubled(trouble: LogTrouble): void {
    if (this.#snapshot.run === null || this.#snapshot.logTrouble === trouble) return;
    this.post({ type: "log_trouble", trouble });
    this.note(LOG_TROUBLES[trouble]);
  }

  healthChanged(health: "healthy" | "unhealthy", reason: string): void {
    this.#observer.healthChanged(this, health, reason);
  }

  dependencies(signal: AbortSignal): Promise<void> {
    return this.#observer.dependencies(this, signal);
  }

  async #unlessClosed(start: Promise<void>): Promise<void> {
    try {
      await start;
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
    const [next, effects] = transition(before, input, (generation) => this.specOf(generation));
    // A later daemon finds a process that has failed: nothing changes, but it is watched.
    if (next === before && effects.length === 0) return this.#effects.sources.follow(next);
    this.#snapshot = next;
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

  #record(input: Input, now: Snapshot): void {
    // The intent is recorded: with it recovery finds the run and its pid. A second stop signal is
    // the worst that a crash in between costs.
    if (RECORDED_SOON.has(input.type)) {
      return this.#observer.recordSoon(this);
    }
    try {
      this.#observer.record(this);
    } catch (error) {
      const message = messageOf(error);
      const failure = new ProcsupError("start_failed", message, { cause: error });
      // The next daemon would start an unrecorded app again, so it is not launched.
      if (input.type === "launching" || input.type === "successor_launching") throw failure;
      this.#observer.note(this, `${now.state}: ${message}`);
    }
  }
}

const RECORDED_SOON: ReadonlySet<Input["type"]> = new Set([
  "launched",
  "pid_known",
  "signalled",
  "other_signalled",
  "released",
]);

/** The attempt before the one that a request has begun, or begins once the run is over. */
function attemptBefore({ state, attempt }: Snapshot): number {
  return state === "starting" ? attempt - 1 : attempt;
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
