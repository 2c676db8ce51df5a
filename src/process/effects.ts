/** Performs what the state machine decides. Everything slow comes back as an event. */

import { messageOf } from "../model/errors.ts";
import type { Health } from "../model/health.ts";
import type { HookName, ProcessConfig } from "../model/process_config.ts";
import type { Effect, ProcessEvent, Run, Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { logFiles, prepareLogFiles } from "../logs/log_files.ts";
import { logEnd } from "../logs/log_position.ts";
import type { Cancel } from "../platform/clock.ts";
import type { Child } from "../platform/launcher.ts";
import { Attendance } from "./attendance.ts";
import { appEnvironment } from "./environment.ts";
import { type HookOwner, runHook } from "./hooks.ts";
import { launchPlan, saysReady } from "./launch_plan.ts";
import { sharedSockets } from "./launch_setup.ts";
import { RunEnd } from "./run_end.ts";
import type { World } from "./world.ts";

/** The process that effects are performed for. */
export interface Performer {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  post(event: ProcessEvent): void;
  /** Something worth telling that changes no state. */
  note(message: string): void;
  healthChanged(health: "healthy" | "unhealthy", reason: string): void;
  restart(options: { reason: string }): Promise<void>;
  /** Resolves when all dependencies are there; throws with the reason when one cannot be. */
  dependencies(signal: AbortSignal): Promise<void>;
}

/** Performs effects for one process. */
export class Effects {
  readonly #process: Performer;
  readonly #world: World;
  #child: Child | undefined;
  /** Steady milliseconds of the launch. */
  #launchedAt = 0;
  #attendance: Attendance | undefined;
  /** The launch under way, and its undoing. */
  #launching: Promise<void> | undefined;
  #launchAbort = new AbortController();
  /** The end of the previous run's leftovers: no launch passes it. */
  #swept: Promise<unknown> = Promise.resolve();
  #end: RunEnd | undefined;
  #disarm: Cancel | undefined;
  #runtime: string | undefined;

  constructor(process: Performer, world: World) {
    this.#process = process;
    this.#world = world;
  }

  /** Milliseconds since the launch; 0 while nothing runs. */
  get uptimeMs(): number {
    return this.#child === undefined ? 0 : this.#world.clock.steady() - this.#launchedAt;
  }

  /** Name of the runtime that runs it; `""` for a plain program. */
  get runtime(): string {
    return this.#runtime ??= this.#runtimeOrNone();
  }

  /** What the health checks say. */
  get health(): Health {
    return this.#attendance?.health ?? "unknown";
  }

  /** Does what one effect asks for; returns at once. */
  perform(effect: Effect): void {
    const { attempt } = this.#process.snapshot;
    switch (effect.type) {
      case "await_dependencies":
        return this.#awaitDependencies(attempt);
      case "launch":
        this.#launching = this.#launch(attempt).finally(() => this.#launching = undefined);
        return;
      case "adopt":
        return this.#adopt(attempt);
      case "end":
        return this.#endOrHurry(attempt, effect.timeoutMs);
      case "sweep":
        return this.#sweep(effect.run);
      case "arm_delay":
        this.#disarm = this.#world.clock.after(
          effect.ms,
          () => this.#process.post({ type: "delay_over", attempt }),
        );
        return;
      case "disarm":
        return this.#disarm?.();
      case "hook":
        return void this.hook(effect.hook);
    }
  }

  /** Sends a signal to the app; false when it does not run. */
  signal(signal: SignalName): boolean {
    const { pid } = this.#process.snapshot;
    return this.#child !== undefined && pid > 0 &&
      this.#world.signal(this.#child.run, pid, signal);
  }

  /** Runs a hook; a failure is noted. Whether it worked, or may be taken so. */
  async hook(hook: HookName, signal?: AbortSignal): Promise<boolean> {
    const config = this.#process.config.hooks[hook];
    if (config === undefined) return true;
    const problem = await runHook(hook, config, this.#hookOwner(), signal);
    if (problem !== undefined) this.#process.note(problem);
    return problem === undefined || config.ignoreFailure;
  }

  /** Moves the logs to where those of another name are. */
  moveLogs(name: string): void {
    const { apps } = this.#world;
    try {
      Deno.renameSync(`${apps}/${this.#process.name}`, `${apps}/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Stops all timers and checks; what runs is left running. */
  close(): void {
    this.#disarm?.();
    this.#attendance?.stop();
  }

  #awaitDependencies(attempt: number): void {
    const abort = new AbortController();
    this.#disarm = () => abort.abort();
    this.#process.dependencies(abort.signal).then(
      () => this.#process.post({ type: "dependencies_met", attempt }),
      (error) => {
        if (abort.signal.aborted) return;
        this.#process.post({ type: "dependency_failed", attempt, reason: messageOf(error) });
      },
    );
  }

  async #launch(attempt: number): Promise<void> {
    await this.#swept;
    if (!this.#isWanted(attempt)) return;
    this.#launchAbort = new AbortController();
    const { preStart } = this.#process.config.hooks;
    try {
      if (preStart !== undefined && !await this.hook("preStart", this.#launchAbort.signal)) {
        throw new Error("pre_start hook failed");
      }
      if (this.#isWanted(attempt)) this.#spawn(attempt);
    } catch (error) {
      this.#process.post({ type: "launch_failed", attempt, reason: messageOf(error) });
    }
  }

  #isWanted(attempt: number): boolean {
    const { snapshot } = this.#process;
    return snapshot.state === "starting" && snapshot.attempt === attempt;
  }

  #spawn(attempt: number): void {
    const { clock, bootId } = this.#world;
    const plan = launchPlan(this.#process, this.#world.inherited);
    this.#runtime = plan.runtime;
    const files = logFiles(this.#world.apps, this.#process.name);
    prepareLogFiles(files);
    const runId = crypto.randomUUID();
    const outputFrom = [logEnd(files.stdout), logEnd(files.stderr)] as const;
    const intent: Run = { runId, wrapperPid: 0, wrapperStart: "", bootId, outputFrom };
    this.#process.post({ type: "launching", attempt, run: intent });
    const env = saysReady(this.#process.config)
      ? { ...plan.env, PROCSUP_READY_FILE: this.#world.readyFile(runId) }
      : plan.env;
    const { argv, cwd, setup } = plan;
    const child = this.#world.launch({
      ...{ runId, argv, cwd, env, ...files },
      ...(setup === undefined ? {} : { setup }),
    });
    const run = { ...child.run, outputFrom };
    this.#watch({ ...child, run }, attempt, clock.steady());
    this.#process.post({ type: "launched", attempt, at: clock.now(), run });
    this.#attend(run, attempt);
  }

  #adopt(attempt: number): void {
    const { run, startedAt } = this.#process.snapshot;
    const { clock } = this.#world;
    const upFor = startedAt === null ? 0 : Math.max(0, clock.now() - startedAt);
    const child = this.#world.adopt(
      run!,
      sharedSockets(this.#process.config),
      (message) => this.#process.note(message),
    );
    this.#watch(child, attempt, clock.steady() - upFor);
    if (this.#process.snapshot.state !== "stopping") this.#attend(run!, attempt);
  }

  #watch(child: Child, attempt: number, launchedAt: number): void {
    this.#child = child;
    this.#launchedAt = launchedAt;
    void child.pid.then((pid) => this.#process.post({ type: "pid_known", attempt, pid }));
    void child.exited.then((exit) =>
      this.#process.post({
        type: "exited",
        attempt,
        exit,
        ranForMs: this.#world.clock.steady() - launchedAt,
        random: this.#world.random(),
      })
    );
  }

  #attend(run: Run, attempt: number): void {
    const effects = this;
    const process = this.#process;
    this.#attendance = new Attendance({
      config: process.config,
      world: this.#world,
      run,
      attempt,
      logs: logFiles(this.#world.apps, process.name),
      get snapshot() {
        return process.snapshot;
      },
      get uptimeMs() {
        return effects.uptimeMs;
      },
      hookOwner: () => this.#hookOwner(),
      post: (event) => process.post(event),
      note: (message) => process.note(message),
      healthChanged: (health, reason) => process.healthChanged(health, reason),
      restart: (reason) => void process.restart({ reason }).catch(() => {}),
      signal: (signal) => this.signal(signal),
    });
  }

  #endOrHurry(attempt: number, timeoutMs: number): void {
    if (this.#end !== undefined) return this.#end.hurry(timeoutMs);
    this.#end = new RunEnd(this.#world, timeoutMs);
    void this.#endAll(attempt, this.#end);
  }

  async #endAll(attempt: number, end: RunEnd): Promise<void> {
    this.#attendance?.stop();
    this.#launchAbort.abort();
    await this.#launching;
    await this.#swept;
    const child = this.#child;
    const ranForMs = this.uptimeMs;
    let ended: Awaited<ReturnType<RunEnd["end"]>> = { exit: null, left: [] };
    if (child !== undefined) {
      if (!end.impatient.aborted) await this.hook("preStop", end.impatient);
      ended = await end.end(child, this.#process.config.stopSignal);
    }
    this.#child = undefined;
    this.#end = undefined;
    const { clock } = this.#world;
    const random = this.#world.random();
    this.#process.post({ type: "gone", attempt, at: clock.now(), ranForMs, random, ...ended });
    // What its files said is on record now.
    if (child !== undefined) this.#world.forget(child.run.runId);
  }

  #sweep(run: Run): void {
    this.#attendance?.stop();
    this.#child = undefined;
    const { stopSignal, stopTimeoutMs } = this.#process.config;
    this.#swept = this.#world.sweep(run, stopSignal, stopTimeoutMs).then((count) => {
      if (count > 0) this.#process.note(`ended ${count} processes that it left behind`);
    });
    this.#world.forget(run.runId);
  }

  #hookOwner(): HookOwner {
    const { id, name, config, snapshot } = this.#process;
    return {
      id,
      name,
      snapshot,
      cwd: config.cwd,
      env: appEnvironment(this.#world.inherited, this.#process),
    };
  }

  /** The runtime of a process that this daemon has not launched; its files may be gone by now. */
  #runtimeOrNone(): string {
    try {
      return launchPlan(this.#process, this.#world.inherited).runtime;
    } catch {
      return "";
    }
  }
}
