/** One supervised process: its verbs. What decides is in `process_actor.ts`, what acts in `effects.ts`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { HookName } from "../model/process_config.ts";
import { NO_USAGE, type ProcessInfo, type Usage } from "../model/process_info.ts";
import type {
  Effect,
  PendingRequest,
  ReplaceRequest,
  Run,
  Snapshot,
} from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { AT_REST } from "../model/transition_steps.ts";
import { LOG_TROUBLES, type LogTrouble } from "../model/log_line.ts";
import { logPaths } from "../model/log_paths.ts";
import { logFiles, prepareLogFiles } from "../logs/write/log_files.ts";
import { Effects } from "./effects.ts";
import type { Journal } from "./journal.ts";
import { type Configured, type Identity, type Machine, ProcessActor } from "./process_actor.ts";
import {
  refuseEndless,
  type ReplaceOptions,
  type RestartOptions,
  type StopRequest,
  type UpOptions,
} from "./process_requests.ts";
import type { RunController } from "./run_controller.ts";
import { endedWell, settled, startAndWait, startFailed, untilUp } from "./start_and_wait.ts";

/** One supervised process. */
export class ManagedProcess extends ProcessActor {
  readonly #effects: Effects;
  /** Its current run. */
  readonly run: RunController;
  /** The last runs of its hooks and health checks. */
  readonly journal: Journal;
  #stops = 0;
  /** Stops under way, except those of its schedule. */
  #finalStops = 0;

  constructor(identity: Identity, app: Configured, snapshot: Snapshot, machine: Machine) {
    super(identity, app, snapshot, machine);
    this.#effects = new Effects(this);
    this.run = this.#effects.run;
    this.journal = this.#effects.hooks.journal;
  }

  protected override perform(effects: readonly Effect[], now: Snapshot): void {
    for (const effect of effects) this.#effects.perform(effect);
    this.#effects.sources.follow(now);
  }

  /** The current state of the process, with the given usage. */
  info(usage: Usage = NO_USAGE): ProcessInfo {
    const now = this.snapshot;
    return {
      ...usage,
      ...this.identity,
      namespace: this.config.namespace,
      runtime: this.#effects.runtime,
      state: now.state,
      ready: now.ready,
      health: this.run.health,
      pid: now.pid,
      exitCode: now.lastExit?.code ?? 0,
      lastExit: now.lastExit,
      restarts: now.restarts,
      startedAt: dateOrNull(now.startedAt),
      finishedAt: dateOrNull(now.finishedAt),
      nextRestartAt: dateOrNull(now.nextRestartAt),
      lastReason: now.lastReason,
      ...(now.logTrouble !== null && { logProblem: LOG_TROUBLES[now.logTrouble] }),
      ...(this.run.statusText !== "" && { statusText: this.run.statusText }),
      uptimeMs: this.run.uptimeMs,
      tags: this.config.tags,
      config: this.config,
    };
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
    const { reason = "restarted by user", cause } = options;
    await this.#carryOut({ verb: "restart", reason, ...cause && { cause } }, options);
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
    if (this.snapshot.run !== null) {
      const paths = logPaths(config, this.instanceIndex);
      const files = logFiles(this.machine.world.apps, this.name, paths);
      prepareLogFiles(this.folder, files, config.log.mode);
    }
    const unchanged = config === this.specOf(this.snapshot.generation);
    await this.#carryOut({
      ...{ verb: "reload", reason, generation },
      ...unchanged && { unchanged },
      ...wait && { proof: true },
    }, options);
  }

  /** Settles like the last request, if that leads to a generation; undefined without one. */
  underWay(generation = this.snapshot.generation): Promise<void> | undefined {
    const { requests, generation: present } = this.snapshot;
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
    const problem = await Promise.race([left, this.run.proof(over.signal)])
      .finally(() => {
        left.catch(() => {});
        over.abort();
      });
    if (typeof problem === "string") {
      throw new ProcsupError("start_failed", `Cannot start "${this.name}": ${problem}`);
    }
    // Its end may be noticed late.
    if (problem === undefined && !this.run.hasEnded) return;
    const now = await this.until(isLeft, this.gone);
    if (endedWell(now, this.config) && this.machine.mayEnd(this)) return;
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
      return await this.#released(now.leftovers.filter(({ replaced }) => replaced));
    }
    await this.#unlessClosed(untilUp(this, attemptBefore(now), options));
  }

  /** Resolves when nothing is left of these runs. */
  async #released(runs: readonly Run[]): Promise<void> {
    const ids = runs.map(({ runId }) => runId);
    const isOver = ({ leftovers }: Snapshot) => !leftovers.some(({ runId }) => ids.includes(runId));
    await this.until(isOver, this.gone);
  }

  async #failed(request: ReplaceRequest, now: Snapshot): Promise<void> {
    this.machine.refuseClosed();
    // A failed second run may still answer clients. A release goes on at once, and waits at its end.
    if (request.generation === undefined) await this.#released(now.leftovers);
    const { code, why, hint } = now.requestFailed!;
    // A job may end at its reload signal.
    if (request.proof && endedWell(now, this.config) && this.machine.mayEnd(this)) return;
    const what = `Cannot ${request.verb} "${this.name}": ${why}`;
    throw new ProcsupError(code, what, { hint });
  }

  /** Renames it and moves its logs. A running app keeps writing into them. */
  rename(name: string): void {
    this.#effects.moveLogs(name);
    this.renamed(name);
  }

  /** Runs a hook, if configured, with this text as its standard input. A failure is noted. */
  async runHook(name: HookName, input: string): Promise<void> {
    await this.#effects.hooks.run(name, { input });
  }

  /** Sends a signal to the app itself. Throws `wrong_state` when it does not run. */
  signal(signal: SignalName): void {
    if (this.run.signal(signal)) return;
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
    const { timeoutMs = this.config.stopTimeoutMs, reason, cause = "user", then } = request;
    const bySchedule = cause === "schedule";
    const ran = this.snapshot.run !== null;
    this.#stops++;
    if (!bySchedule) this.#finalStops++;
    try {
      this.post({ type: "stop_requested", timeoutMs, cause, ...(reason && { reason }) });
      const { endFailed, lastReason } = await this.until((now) => now.state !== "stopping");
      await this.run.othersGone(timeoutMs).catch((cause) => {
        const why = `cannot look for what it left behind: ${messageOf(cause)}`;
        throw new ProcsupError("stop_failed", `Cannot stop "${this.name}": ${why}`, { cause });
      });
      if (ran && endFailed) {
        throw new ProcsupError("stop_failed", `Cannot stop "${this.name}": ${lastReason}`);
      }
      // It may have been started again meanwhile.
      if (AT_REST.has(this.snapshot.state)) await then?.();
    } finally {
      if (!bySchedule) this.#finalStops--;
    }
  }

  /** Carries out a request that an earlier daemon left, unless a later one has replaced it. */
  async carryOut(request: PendingRequest): Promise<void> {
    if (this.snapshot.pending !== request) return;
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
    if (this.snapshot.pending === request) this.post({ type: "pending", request: null });
  }

  /** Stops its timers, too. */
  override release(why?: ProcsupError): void {
    super.release(why);
    this.#effects.close();
  }

  /** Its app or another program truncated or moved its log. Noted once for each run. */
  logTroubled(trouble: LogTrouble): void {
    if (this.snapshot.run === null || this.snapshot.logTrouble === trouble) return;
    this.post({ type: "log_trouble", trouble });
    this.note(LOG_TROUBLES[trouble]);
  }

  async #unlessClosed(start: Promise<void>): Promise<void> {
    try {
      await start;
    } catch (error) {
      // The shutdown stopped it: that is no failure of the app.
      this.machine.refuseClosed();
      throw error;
    }
  }

  #refuseStart(verb: "start" | "restart" | "reload"): void {
    this.machine.refuseClosed();
    if (this.gone.aborted) this.#refuse(verb, "it was deleted meanwhile");
  }

  #refuse(verb: string, why: string): never {
    throw new ProcsupError("wrong_state", `Cannot ${verb} "${this.name}": ${why}`);
  }
}

/** The attempt before the one that a request has begun, or begins once the run is over. */
function attemptBefore({ state, attempt }: Snapshot): number {
  return state === "starting" ? attempt - 1 : attempt;
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
