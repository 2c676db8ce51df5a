/** The run of a process: watched, monitored, replaced, ended. */

import { messageOf } from "../model/errors.ts";
import { type Health, type HealthRecord, UNKNOWN_HEALTH } from "../model/health.ts";
import type { Effect, ReplaceRequest, Run } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { logFiles } from "../logs/write/log_files.ts";
import { removeInput } from "../platform/launch/app_input.ts";
import type { Child } from "../platform/launch/launcher.ts";
import type { Background } from "../platform/scan/process_group.ts";
import { describeBackground, describeListener, foregroundAdvice } from "./background.ts";
import { RunMonitors } from "./run_monitors.ts";
import type { RunParts, RunView } from "./run_view.ts";
import { Leftovers } from "./leftovers.ts";
import type { ProcessActor } from "./process_actor.ts";
import type { ProcessHooks } from "./process_hooks.ts";
import { proof } from "./proof.ts";
import { sharedSockets } from "./launch_setup.ts";
import { type Ended, RunEnd } from "./run_end.ts";
import type { Spawned } from "./spawn.ts";
import { Successor } from "./successor.ts";
import type { World } from "../platform/world.ts";

type TerminateEffect = Extract<Effect, { type: "terminate" }>;

export class RunController {
  readonly #process: ProcessActor;
  readonly #world: World;
  readonly #hooks: ProcessHooks;
  #child: Child | undefined;
  /** Steady milliseconds of the launch. */
  #launchedAt = 0;
  #monitors: RunMonitors | undefined;
  readonly #leftovers: Leftovers;
  #end: RunEnd | undefined;
  /** The second run of the reload under way, or of the last one. */
  #successor: Successor | undefined;
  /** Other runs that this daemon has launched or adopted, by run id. */
  readonly #others = new Map<string, Child>();
  /** The ends of other runs that are under way. */
  readonly #otherEnds = new Map<RunEnd, { readonly run: Run; readonly over: Promise<void> }>();

  constructor(process: ProcessActor, hooks: ProcessHooks) {
    this.#process = process;
    const { world } = process.machine;
    this.#world = world;
    this.#hooks = hooks;
    this.#leftovers = new Leftovers(world);
  }

  /** Milliseconds since the launch; 0 while nothing runs. */
  get uptimeMs(): number {
    return this.#child === undefined ? 0 : this.#world.clock.steady() - this.#launchedAt;
  }

  /** True if its app has ended, even if the snapshot is still that of a running app. */
  get hasEnded(): boolean {
    return this.#child === undefined || this.#world.hasEnded(this.#child.run.runId);
  }

  /** Resolves when the pid of the app is known, or the app has ended before that. */
  get pidKnown(): Promise<unknown> {
    return Promise.race([this.#child?.pid, this.#child?.exited]);
  }

  get health(): Health {
    return this.healthRecord.health;
  }

  get healthRecord(): HealthRecord {
    return this.#monitors?.record ?? UNKNOWN_HEALTH;
  }

  /** What the app itself says about its state; empty if nothing. */
  get statusText(): string {
    const { run } = this.#process.snapshot;
    return run === null ? "" : this.#world.notices(run)?.now.status ?? "";
  }

  /** Whether the current run is proven; see `proof()`. */
  proof(signal: AbortSignal): Promise<string | undefined> {
    return proof({
      ...{ config: this.#process.config, clock: this.#world.clock },
      uptimeMs: () => this.uptimeMs,
      record: () => this.healthRecord,
      problem: () => this.#hooks.journal.checks.at(-1)?.problem ?? "",
    }, signal);
  }

  /**
   * Resolves when the groups of earlier runs are gone. Every launch waits for this, but not for a
   * run that was replaced: it may take long to end.
   */
  get cleanedUp(): Promise<unknown> {
    const ends = [...this.#otherEnds.values()].filter(({ run }) => !run.replaced);
    if (ends.length === 0) return this.#leftovers.groupsGone;
    return Promise.all([this.#leftovers.groupsGone, ...ends.map(({ over }) => over)]);
  }

  /** Takes over a run that was just launched. */
  begin({ child, run, launchedAt }: Spawned, attempt: number): void {
    this.#watch(child, attempt, launchedAt);
    this.#process.post({ type: "launched", attempt, at: this.#world.clock.now(), run });
    this.#monitor(run, attempt);
  }

  /** Takes over the run in the snapshot, which an earlier daemon launched. */
  adopt(attempt: number): void {
    const { run, startedAt } = this.#process.snapshot;
    const { clock } = this.#world;
    const upFor = startedAt === null ? 0 : Math.max(0, clock.now() - startedAt);
    const child = this.#world.adopt(
      run!,
      sharedSockets(this.#process.config),
      (message) => this.#process.note(message),
    );
    this.#watch(child, attempt, clock.steady() - upFor);
    if (this.#process.snapshot.state !== "stopping") this.#monitor(run!, attempt, true);
  }

  /** Sends a signal to the app; false when it does not run. */
  signal(signal: SignalName): boolean {
    const { pid } = this.#process.snapshot;
    return this.#child !== undefined && pid > 0 &&
      this.#world.signal(this.#child.run, pid, signal);
  }

  /** Launches a second run beside the current one. */
  launchSuccessor(request: ReplaceRequest): void {
    this.#successor = new Successor({
      ...{ process: this.#process, request },
      cleanedUp: () => this.#othersGone,
      hooks: this.#hooks,
      view: (state) => this.#view(state),
    });
    void this.#successor.bringUp();
  }

  /** Gives up the launch of a second run, and the wait for it. */
  abandonSuccessor(): void {
    this.#successor?.abandon();
    const child = this.#successor?.child;
    if (child !== undefined) this.#others.set(child.run.runId, child);
    this.#successor = undefined;
  }

  /** The second run is the current one from now on. */
  takeOver(): void {
    const old = this.#child!;
    const { child, run, launchedAt } = this.#successor!.spawned!;
    const { attempt } = this.#process.snapshot;
    this.#successor = undefined;
    this.#monitors?.stop();
    this.#others.set(old.run.runId, old);
    this.#watch(child, attempt, launchedAt);
    this.#monitor(run, attempt);
  }

  /** Ends a run that is not the current one, with everything it started. */
  release(run: Run): void {
    const child = this.#others.get(run.runId);
    this.#others.delete(run.runId);
    if (child === undefined) return this.#cleanUp(run);
    const end = new RunEnd(this.#world, this.#end?.graceMs ?? this.#process.config.stopTimeoutMs);
    const over = this.#endOther(end, child, run).finally(() => this.#otherEnds.delete(end));
    this.#otherEnds.set(end, { run, over });
  }

  async #endOther(end: RunEnd, child: Child, run: Run): Promise<void> {
    if (run.replaced && !end.impatient.aborted) {
      await this.#hooks.run("preStop", { signal: end.impatient });
    }
    const signalled = () => this.#process.post({ type: "other_signalled", run });
    const { left, problem } = await end.terminate(child, this.#process.config, { signalled });
    const what = problem ?? (left.length > 0 ? `pid ${left.join(", ")} is left` : undefined);
    if (what !== undefined) this.#process.note(`could not end its last run: ${what}`);
    this.#released(run);
  }

  /** Terminates what is left of a run of an earlier daemon, or of one that ended by itself. */
  #cleanUp(run: Run): void {
    const { stopSignal, stopMode, stopTimeoutMs } = this.#process.config;
    const way = { signal: stopSignal, mode: stopMode };
    const cannotLook = (reason: unknown) =>
      this.#process.note(`cannot look for what it left behind: ${messageOf(reason)}`);
    // Unless its hook is over, it runs again, as in every stop.
    const isHooked = run.replaced && !run.isSignalled && !this.#world.hasEnded(run.runId);
    const preStop = isHooked
      ? (signal: AbortSignal) => this.#hooks.run("preStop", { signal })
      : undefined;
    const cleanUp = this.#leftovers.cleanUp(run, way, stopTimeoutMs, cannotLook, preStop);
    void cleanUp.then(({ count, background }) => {
      const processes = count === 1 ? "1 process" : `${count} processes`;
      if (background !== undefined) {
        this.#hooks.journal.background = background;
        const advice = foregroundAdvice(background);
        this.#process.note(`${describeBackground(background)}, which was ended. ${advice}`);
      } else if (count > 0) this.#process.note(`ended ${processes} that it left behind`);
      this.#released(run);
    });
  }

  /** What an app that ended by itself has left in the background; resolves when that is ended. */
  async background(): Promise<Background | undefined> {
    await this.#leftovers.gone.catch(() => {});
    return this.#hooks.journal.background;
  }

  /** Hurries the end of other runs until nothing is left of them. Rejects if it cannot look. */
  async othersGone(timeoutMs: number): Promise<void> {
    this.#hurryOthers(timeoutMs);
    await this.#othersGone;
  }

  get #othersGone(): Promise<unknown> {
    const ends = [...this.#otherEnds.values()].map(({ over }) => over);
    return Promise.all([this.#leftovers.gone, ...ends]);
  }

  #hurryOthers(timeoutMs: number): void {
    for (const end of this.#otherEnds.keys()) end.hurry(timeoutMs);
    this.#leftovers.hurry(timeoutMs);
  }

  #released(run: Run): void {
    this.#process.post({ type: "released", run });
    this.#forget(run);
  }

  /** Removes the files of a run that is over, once their content is recorded. */
  #forget({ runId }: Run): void {
    this.#process.machine.whenRecorded(this.#process, () => {
      this.#world.forget(runId);
      removeInput(`${this.#world.apps}/${this.#process.name}`, runId);
    });
  }

  /** Terminates the run, or hurries its end. `giveUpLaunch` cancels a launch in progress. */
  terminate(attempt: number, effect: TerminateEffect, giveUpLaunch: () => Promise<void>): void {
    this.#hurryOthers(effect.timeoutMs);
    if (this.#end !== undefined) return this.#end.hurry(effect.timeoutMs);
    this.#end = new RunEnd(this.#world, effect.timeoutMs);
    this.#monitors?.stop();
    const end = this.#end;
    void giveUpLaunch().then(() => this.#endAll(attempt, end, effect));
  }

  async #endAll(
    attempt: number,
    end: RunEnd,
    { isSignalled, signal }: TerminateEffect,
  ): Promise<void> {
    const child = this.#child;
    const { clock } = this.#world;
    const ranForMs = this.uptimeMs;
    let ended: Ended = { exit: null, left: [] };
    if (child !== undefined) {
      if (!isSignalled && !end.impatient.aborted) {
        await this.#hooks.run("preStop", { signal: end.impatient });
      }
      const { config } = this.#process;
      ended = await end.terminate(child, signal ? { ...config, stopSignal: signal } : config, {
        isSignalled,
        signalled: () => this.#process.post({ type: "signalled", attempt, at: clock.now() }),
      });
    }
    // Wait for the leftovers of earlier runs, too. A failure to find them is reported by the stop.
    await this.#othersGone.catch(() => {});
    this.#child = undefined;
    this.#end = undefined;
    const random = this.#world.random();
    const { listening = [], ...over } = ended;
    this.#hooks.journal.leftSockets = new Set(listening.map(({ socket }) => socket));
    for (const listener of listening) this.#process.note(describeListener(listener));
    this.#process.post({
      type: "terminated",
      attempt,
      at: clock.now(),
      ranForMs,
      random,
      ...over,
    });
    if (child !== undefined) this.#forget(child.run);
  }

  /** Ends what the app left behind when it ended by itself. */
  cleanUpOrphans(run: Run): void {
    this.#monitors?.stop();
    this.#child = undefined;
    this.#cleanUp(run);
  }

  /** Releases the run, which keeps running. */
  close(): void {
    this.#monitors?.stop();
    this.#successor?.abandon();
    this.#leftovers.close();
  }

  #watch(child: Child, attempt: number, launchedAt: number): void {
    this.#child = child;
    this.#launchedAt = launchedAt;
    void child.pid.then((pid) => this.#process.post({ type: "pid_known", attempt, pid }));
    void child.exited.then((exit) => {
      if (this.#follows(child, attempt, launchedAt)) return;
      this.#hooks.journal.ended();
      this.#process.post({
        type: "exited",
        attempt,
        exit,
        ranForMs: this.#world.clock.steady() - launchedAt,
        random: this.#world.random(),
      });
    });
  }

  /** Continues with the new main process of a run, if it has one. A stop ends that process as well. */
  #follows({ run }: Child, attempt: number, launchedAt: number): boolean {
    if (this.#child?.run !== run || this.#end !== undefined) return false;
    const child = this.#world.follow(run);
    if (child === undefined) return false;
    this.#watch(child, attempt, launchedAt);
    void child.pid.then((pid) =>
      this.#process.note(`continues with its new main process, pid ${pid}`)
    );
    return true;
  }

  #monitor(run: Run, attempt: number, isAdopted = false): void {
    const process = this.#process;
    this.#monitors = new RunMonitors(this.#view({
      ...{
        run,
        pid: () => this.#child!.pid,
        attempt,
        isAdopted,
        config: process.specOf(process.snapshot.generation),
      },
      isReady: () => process.snapshot.ready,
      uptime: () => this.uptimeMs,
      untilReady: (signal) => process.until(({ ready }) => ready, signal),
      post: (input) => process.post(input),
      journal: this.#hooks.journal,
      healthChanged: (health, reason) => process.machine.healthChanged(process, health, reason),
      signal: (signal) => this.signal(signal),
    }));
  }

  #view({ pid, isReady, uptime, ...state }: RunParts): RunView {
    const process = this.#process;
    const { clock } = this.#world;
    const since = clock.steady();
    return {
      ...state,
      world: this.#world,
      logs: logFiles(this.#world.apps, process.name, state.run.logs),
      get pid() {
        return pid();
      },
      get isReady() {
        return isReady();
      },
      get uptimeMs() {
        return uptime();
      },
      get watchedMs() {
        return clock.steady() - since;
      },
      hookContext: () => this.#hooks.context(state.config),
      note: (message) => process.note(message),
    };
  }
}
