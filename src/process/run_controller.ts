/** The run of a process: watched, monitored, replaced, ended. */

import { messageOf } from "../model/errors.ts";
import type { Health } from "../model/health.ts";
import type { HookName } from "../model/process_config.ts";
import { type Effect, NEW, type Run, type Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { logFiles } from "../logs/log_files.ts";
import { removeInput } from "../platform/app_input.ts";
import type { Child } from "../platform/launcher.ts";
import { RunMonitors } from "./run_monitors.ts";
import type { MonitoredRun } from "./monitor.ts";
import { Leftovers } from "./leftovers.ts";
import type { ProcessHandle } from "./process_handle.ts";
import type { HookContext } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import { sharedSockets } from "./launch_setup.ts";
import { overlapReload } from "./overlap.ts";
import { type Ended, RunEnd } from "./run_end.ts";
import type { Spawned } from "./spawn.ts";
import type { World } from "./world.ts";

type TerminateEffect = Extract<Effect, { type: "terminate" }>;

interface HookRunner {
  hook(hook: HookName, signal?: AbortSignal): Promise<string | undefined>;
  hookContext(): HookContext;
  readonly journal: Journal;
}

/** What its monitors see of a run, which need not be the current one. */
interface RunState extends Pick<MonitoredRun, "attempt" | "isAdopted" | "post"> {
  uptime(): number;
  snapshot(): Snapshot;
}

export class RunController {
  readonly #process: ProcessHandle;
  readonly #world: World;
  readonly #hooks: HookRunner;
  #child: Child | undefined;
  /** Steady milliseconds of the launch. */
  #launchedAt = 0;
  #monitors: RunMonitors | undefined;
  /** Aborted when the current run is left. */
  #leaving = new AbortController();
  readonly #leftovers: Leftovers;
  #end: RunEnd | undefined;
  /** Reloads with overlap, one after the other. */
  #reloads: Promise<unknown> = Promise.resolve();
  /** Ends the other run of a reload. */
  #otherEnd: RunEnd | undefined;

  constructor(process: ProcessHandle, world: World, hooks: HookRunner) {
    this.#process = process;
    this.#world = world;
    this.#hooks = hooks;
    this.#leftovers = new Leftovers(world);
  }

  /** Milliseconds since the launch; 0 while nothing runs. */
  get uptimeMs(): number {
    return this.#child === undefined ? 0 : this.#world.clock.steady() - this.#launchedAt;
  }

  /** See `ProcessHandle`. */
  get hasEnded(): boolean {
    return this.#child === undefined || this.#world.hasEnded(this.#child.run.runId);
  }

  /** Resolves when the pid of the app is known, or the app has ended before that. */
  get pidKnown(): Promise<unknown> {
    return Promise.race([this.#child?.pid, this.#child?.exited]);
  }

  get health(): Health {
    return this.#monitors?.health ?? "unknown";
  }

  /** Resolves when the groups of earlier runs are gone. Every launch waits for this. */
  get cleanedUp(): Promise<void> {
    return this.#leftovers.groupsGone;
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

  /**
   * Starts a new run, and ends the current one when the new one is ready. Waits for an earlier
   * reload first. Throws `start_failed`.
   */
  overlap(): Promise<void> {
    const leaving = this.#leaving.signal;
    const turn = this.#reloads.then(() => this.#overlap(leaving));
    this.#reloads = turn.catch(() => {});
    return turn;
  }

  async #overlap(leaving: AbortSignal): Promise<void> {
    await overlapReload({
      ...{ process: this.#process, leaving, world: this.#world },
      launched: (run) => this.#hooks.journal.launched(run),
      monitored: ({ run, launchedAt }, post) =>
        this.#monitored(run, {
          ...{ attempt: 0, isAdopted: false, post, snapshot: () => NEW },
          uptime: () => this.#world.clock.steady() - launchedAt,
        }),
      swap: (spawned, pid) => this.#swap(spawned, pid),
      preStart: () => this.#hooks.hook("preStart", leaving),
      preStop: () => this.#hooks.hook("preStop", leaving),
      endOther: (child) => this.#endOther(child),
    });
  }

  #swap({ child, run, launchedAt }: Spawned, pid: number): Child {
    const old = this.#child!;
    const { attempt } = this.#process.snapshot;
    this.#monitors?.stop();
    const at = this.#world.clock.now();
    this.#process.post({ type: "replaced", attempt, at, run, pid });
    this.#watch(child, attempt + 1, launchedAt);
    this.#monitor(run, attempt + 1);
    return old;
  }

  /** Ends the run of a reload that is not the process's own. */
  async #endOther(child: Child): Promise<void> {
    const { config } = this.#process;
    const end = new RunEnd(this.#world, this.#end?.graceMs ?? config.stopTimeoutMs);
    this.#otherEnd = end;
    const { left, problem } = await end.terminate(child, config);
    this.#otherEnd = undefined;
    const what = problem ?? (left.length > 0 ? `pid ${left.join(", ")} is left` : undefined);
    if (what !== undefined) this.#process.note(`could not end its last run: ${what}`);
    this.#released(child.run);
  }

  /** Terminates what is left of a run that is not the current one. */
  release(run: Run): void {
    const { stopSignal, stopMode, stopTimeoutMs } = this.#process.config;
    const way = { signal: stopSignal, mode: stopMode };
    const cannotLook = (reason: unknown) =>
      this.#process.note(`cannot look for what it left behind: ${messageOf(reason)}`);
    // An earlier daemon was ending it for a reload. Its pre_stop hook runs again, as in every stop.
    const preStop = run.replaced && !this.#world.hasEnded(run.runId)
      ? (impatient: AbortSignal) => this.#hooks.hook("preStop", impatient)
      : undefined;
    const cleanUp = this.#leftovers.cleanUp(run, way, stopTimeoutMs, cannotLook, preStop);
    void cleanUp.then((count) => {
      const processes = count === 1 ? "1 process" : `${count} processes`;
      if (count > 0) this.#process.note(`ended ${processes} that it left behind`);
      this.#released(run);
    });
  }

  /** Hurries the end of other runs until nothing is left of them. Rejects if it cannot look. */
  async othersGone(timeoutMs: number): Promise<void> {
    this.#hurryOthers(timeoutMs);
    await this.#othersGone;
  }

  get #othersGone(): Promise<unknown> {
    return Promise.all([this.#reloads, this.#leftovers.gone]);
  }

  #hurryOthers(timeoutMs: number): void {
    this.#otherEnd?.hurry(timeoutMs);
    this.#leftovers.hurry(timeoutMs);
  }

  #released(run: Run): void {
    this.#process.post({ type: "released", run });
    this.#forget(run);
  }

  /** Removes the files of a run that is over, once their content is recorded. */
  #forget({ runId }: Run): void {
    this.#process.whenRecorded(() => {
      this.#world.forget(runId);
      removeInput(`${this.#world.apps}/${this.#process.name}`, runId);
    });
  }

  /** Terminates the run, or hurries its end. `giveUpLaunch` cancels a launch in progress. */
  terminate(attempt: number, effect: TerminateEffect, giveUpLaunch: () => Promise<void>): void {
    this.#hurryOthers(effect.timeoutMs);
    if (this.#end !== undefined) return this.#end.hurry(effect.timeoutMs);
    this.#end = new RunEnd(this.#world, effect.timeoutMs);
    this.#leave();
    const end = this.#end;
    void giveUpLaunch().then(() => this.#endAll(attempt, end, effect));
  }

  async #endAll(
    attempt: number,
    end: RunEnd,
    { first, isSignalled }: TerminateEffect,
  ): Promise<void> {
    const child = this.#child;
    const { clock } = this.#world;
    const ranForMs = this.uptimeMs;
    let ended: Ended = { exit: null, left: [] };
    if (child !== undefined) {
      for (const hook of isSignalled ? [] : [first, "preStop"] as const) {
        if (hook && !end.impatient.aborted) await this.#hooks.hook(hook, end.impatient);
      }
      ended = await end.terminate(child, this.#process.config, {
        isSignalled,
        signalled: () => this.#process.post({ type: "signalled", attempt, at: clock.now() }),
      });
    }
    // Wait for the leftovers of earlier runs, too. A failure to find them is reported by the stop.
    await this.#othersGone.catch(() => {});
    this.#child = undefined;
    this.#end = undefined;
    const random = this.#world.random();
    this.#process.post({
      type: "terminated",
      attempt,
      at: clock.now(),
      ranForMs,
      random,
      ...ended,
    });
    if (child !== undefined) this.#forget(child.run);
  }

  /** Stops everything that works beside the run. */
  #leave(): void {
    this.#monitors?.stop();
    this.#leaving.abort();
    this.#leaving = new AbortController();
  }

  /** Ends what the app left behind when it ended by itself. */
  cleanUpOrphans(run: Run): void {
    this.#leave();
    this.#child = undefined;
    this.release(run);
  }

  /** Releases the run, which keeps running. */
  close(): void {
    this.#leave();
    this.#leftovers.close();
  }

  #watch(child: Child, attempt: number, launchedAt: number): void {
    this.#child = child;
    this.#launchedAt = launchedAt;
    void child.pid.then((pid) => this.#process.post({ type: "pid_known", attempt, pid }));
    void child.exited.then((exit) => {
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

  #monitor(run: Run, attempt: number, isAdopted = false): void {
    const monitored = this.#monitored(run, {
      ...{ attempt, isAdopted, post: (input) => this.#process.post(input) },
      uptime: () => this.uptimeMs,
      snapshot: () => this.#process.snapshot,
    });
    this.#monitors = new RunMonitors(monitored);
  }

  #monitored(run: Run, { attempt, isAdopted, post, uptime, snapshot }: RunState): MonitoredRun {
    const process = this.#process;
    return {
      config: process.config,
      world: this.#world,
      run,
      attempt,
      isAdopted,
      logs: logFiles(this.#world.apps, process.name, run.logs),
      get snapshot() {
        return snapshot();
      },
      get uptimeMs() {
        return uptime();
      },
      untilReady: (signal) => process.until(({ ready }) => ready, signal),
      hookContext: () => this.#hooks.hookContext(),
      journal: this.#hooks.journal,
      post,
      note: (message) => process.note(message),
      healthChanged: (health, reason) => process.healthChanged(health, reason),
      restart: (reason) => void process.restart({ reason }).catch(() => {}),
      signal: (signal) => this.signal(signal),
    };
  }
}
