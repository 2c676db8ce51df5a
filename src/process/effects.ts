/** Performs what the state machine decides. Everything slow comes back as an event. */

import { messageOf } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Exit } from "../model/process_info.ts";
import type { Effect, ProcessEvent, Run, Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { logFiles, prepareLogFiles } from "../logs/log_files.ts";
import type { Cancel } from "../platform/clock.ts";
import type { Child } from "../platform/launcher.ts";
import { commandLine } from "../runtimes/command_line.ts";
import { appEnvironment } from "./environment.ts";
import type { World } from "./world.ts";

/** The process that effects are performed for. */
export interface Performer {
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  post(event: ProcessEvent): void;
  /** Something worth telling that changes no state. */
  note(message: string): void;
}

/** How long an ended run's exit status may take to arrive. */
const EXIT_PATIENCE_MS = 500;

/** How long a launched app's pid may take to become known. */
const PID_PATIENCE_MS = 1000;

/** Performs effects for one process. */
export class Effects {
  readonly #process: Performer;
  readonly #world: World;
  #child: Child | undefined;
  /** Steady milliseconds of the launch. */
  #launchedAt = 0;
  /** The end of the previous run's leftovers: no launch passes it. */
  #swept: Promise<unknown> = Promise.resolve();
  #endBy: number | undefined;
  #cancelDelay: Cancel | undefined;
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
    return this.#runtime ??= runtimeOrNone(this.#process, this.#world);
  }

  /** Does what one effect asks for; returns at once. */
  perform(effect: Effect): void {
    const { attempt } = this.#process.snapshot;
    switch (effect.type) {
      case "launch":
        return void this.#launch(attempt);
      case "adopt":
        return this.#adopt(attempt);
      case "end":
        return void this.#end(attempt, effect.timeoutMs);
      case "sweep":
        return this.#sweep(effect.run);
      case "arm_delay":
        this.#cancelDelay = this.#world.clock.after(
          effect.ms,
          () => this.#process.post({ type: "delay_over", attempt }),
        );
        return;
      case "disarm_delay":
        return this.#cancelDelay?.();
    }
  }

  /** Sends a signal to the app; false when it does not run. */
  signal(signal: SignalName): boolean {
    const { pid } = this.#process.snapshot;
    return this.#child !== undefined && pid > 0 &&
      this.#world.signal(this.#child.run, pid, signal);
  }

  /** Stops all timers; what runs is left running. */
  close(): void {
    this.#cancelDelay?.();
  }

  async #launch(attempt: number): Promise<void> {
    await this.#swept;
    const { snapshot } = this.#process;
    if (snapshot.state !== "starting" || snapshot.attempt !== attempt) return;
    try {
      this.#spawn(attempt);
    } catch (error) {
      this.#process.post({ type: "launch_failed", attempt, reason: messageOf(error) });
    }
  }

  #spawn(attempt: number): void {
    const { name, config } = this.#process;
    const env = appEnvironment(this.#world.inherited, this.#process);
    const { argv, runtime } = commandLine(config, env.PATH ?? "");
    this.#runtime = runtime;
    const files = logFiles(this.#world.apps, name);
    prepareLogFiles(files);
    const runId = crypto.randomUUID();
    const intent: Run = { runId, wrapperPid: 0, wrapperStart: "", bootId: this.#world.bootId };
    this.#process.post({ type: "launching", attempt, run: intent });
    const child = this.#world.launch({ runId, argv, cwd: config.cwd, env, ...files });
    this.#watch(child, attempt, this.#world.clock.steady());
    this.#process.post({ type: "launched", attempt, at: this.#world.clock.now(), run: child.run });
  }

  #adopt(attempt: number): void {
    const { run, startedAt } = this.#process.snapshot;
    const { clock } = this.#world;
    const upFor = startedAt === null ? 0 : Math.max(0, clock.now() - startedAt);
    this.#watch(this.#world.adopt(run!), attempt, clock.steady() - upFor);
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

  async #end(attempt: number, timeoutMs: number): Promise<void> {
    const { clock } = this.#world;
    const by = clock.steady() + timeoutMs;
    if (this.#endBy !== undefined) {
      // Being ended already: a later stop may only hurry it.
      this.#endBy = Math.min(this.#endBy, by);
      return;
    }
    this.#endBy = by;
    await this.#swept;
    const { exit, left } = await this.#endChild();
    this.#endBy = undefined;
    this.#process.post({ type: "gone", attempt, at: clock.now(), exit, left });
  }

  async #endChild(): Promise<{ exit: Exit | null; left: readonly number[] }> {
    const child = this.#child;
    if (child === undefined) return { exit: null, left: [] };
    // Until the app's pid is known it is the wrapper's shell, which would swallow the signal.
    await this.#within(PID_PATIENCE_MS, Promise.race([child.pid, child.exited]));
    const { killed, left } = await this.#world.end(
      child.run,
      this.#process.config.stopSignal,
      () => this.#endBy!,
    );
    const exit = await this.#exitOf(child, killed);
    this.#child = undefined;
    queueMicrotask(() => this.#world.forget(child.run.runId));
    return { exit, left };
  }

  /** The wrapper tells the exit unless it was killed with the rest. */
  async #exitOf(child: Child, killed: boolean): Promise<Exit> {
    const exit = await this.#within(EXIT_PATIENCE_MS, child.exited);
    if (exit !== null && exit.code !== null) return exit;
    const at = new Date(this.#world.clock.now());
    return killed ? { code: 137, signal: "SIGKILL", at } : { code: null, signal: null, at };
  }

  /** The value of a promise, or null when it takes too long. */
  async #within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
    const late = Promise.withResolvers<null>();
    const cancel = this.#world.clock.after(ms, () => late.resolve(null));
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      cancel();
    }
  }

  #sweep(run: Run): void {
    this.#child = undefined;
    const { stopSignal, stopTimeoutMs } = this.#process.config;
    this.#swept = this.#world.sweep(run, stopSignal, stopTimeoutMs).then((count) => {
      if (count > 0) this.#process.note(`ended ${count} processes that it left behind`);
    });
    this.#world.forget(run.runId);
  }
}

/** The runtime of a process that this daemon has not launched; its files may be gone by now. */
function runtimeOrNone(process: Performer, world: World): string {
  try {
    return commandLine(process.config, appEnvironment(world.inherited, process).PATH ?? "").runtime;
  } catch {
    return "";
  }
}
