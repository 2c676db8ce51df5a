/** Performs what the state machine decides. Slow results come back as inputs. */

import { messageOf } from "../model/errors.ts";
import type { HookName, ProcessConfig } from "../model/process_config.ts";
import type { Effect, ReplaceRequest } from "../model/process_state.ts";
import type { Cancel } from "../platform/clock.ts";
import { isLack } from "../platform/lack.ts";
import { lstatIfAny } from "../platform/files/stat.ts";
import { ProcessHooks } from "./process_hooks.ts";
import { launchPlan, spawnRun } from "./spawn.ts";
import type { ProcessActor } from "./process_actor.ts";
import { RunController } from "./run_controller.ts";
import { sharedSockets } from "./launch_setup.ts";
import { SourceWatch } from "./source_watch.ts";
import type { World } from "../platform/world.ts";

/** The effects of requests that replace the run. */
type RequestEffect = Extract<
  Effect,
  { request: ReplaceRequest } | { type: "take_over" } | { type: "abandon" }
>;

/** Performs effects for one process. */
export class Effects {
  readonly #process: ProcessActor;
  readonly #world: World;
  readonly run: RunController;
  readonly sources: SourceWatch;
  readonly hooks: ProcessHooks;
  /** The launch in progress, and what cancels it. */
  #launching: Promise<void> | undefined;
  #launchAbort = new AbortController();
  #disarm: Cancel | undefined;
  #cancelProof: Cancel | undefined;
  #closed = false;
  #runtime: string | undefined;

  constructor(process: ProcessActor) {
    this.#process = process;
    this.#world = process.machine.world;
    this.hooks = new ProcessHooks(process);
    this.run = new RunController(process, this.hooks);
    this.sources = new SourceWatch(process, this.run, this.hooks);
  }

  /** Name of the runtime that runs it; `auto` for a plain program. */
  get runtime(): string {
    return this.#runtime ??= this.#runtimeOrNone();
  }

  /** Performs one effect; returns at once. */
  perform(effect: Effect): void {
    const { attempt } = this.#process.snapshot;
    switch (effect.type) {
      case "await_dependencies":
        return this.#awaitDependencies(attempt);
      case "await_connection":
        return this.#awaitConnection(attempt);
      case "launch":
        this.#launching = this.#launch(attempt).finally(() => this.#launching = undefined);
        return;
      case "adopt":
        this.hooks.journal.outputFrom = this.#process.snapshot.run?.outputFrom;
        return this.run.adopt(attempt);
      case "terminate":
        return this.run.terminate(attempt, effect, () => this.#giveUpLaunch());
      case "clean_up_orphans":
        return this.run.cleanUpOrphans(effect.run);
      case "arm_delay":
        // Even a timer of 0 ms takes 2 ms.
        if (effect.ms === 0) return this.#process.post({ type: "delay_over", attempt });
        this.#disarm = this.#world.clock.after(
          effect.ms,
          () => this.#process.post({ type: "delay_over", attempt }),
        );
        return;
      case "disarm":
        return this.#disarm?.();
      case "release":
        return this.run.release(effect.run);
      case "hook":
        return void this.#hookAside(effect.hook);
      default:
        return this.#performForRequest(effect);
    }
  }

  #performForRequest(effect: RequestEffect): void {
    switch (effect.type) {
      case "before":
        return void this.#hookBefore(effect);
      case "reload_signal": {
        const { request, signal } = effect;
        const isSent = this.run.signal(signal);
        return this.#process.post({ type: "reload_signalled", request, isSent });
      }
      case "arm_proof": {
        const { request, ms } = effect;
        const over = () => this.#process.post({ type: "proof_over", request });
        this.#cancelProof?.();
        this.#cancelProof = this.#world.clock.after(ms, over);
        return;
      }
      case "launch_successor":
        return this.run.launchSuccessor(effect.request);
      case "take_over":
        return this.run.takeOver();
      case "abandon":
        this.#cancelProof?.();
        return this.run.abandonSuccessor();
    }
  }

  /** A hook that an abandoned request began runs to its end. */
  async #hookBefore({ request, hook }: Extract<Effect, { type: "before" }>): Promise<void> {
    const generation = request.generation ?? this.#process.snapshot.generation;
    await this.hooks.run(hook, { config: this.#process.specOf(generation) });
    this.#process.post({ type: "before_over", request });
  }

  /** Moves the logs to the folder of another name. Keeps what an earlier process left there. */
  moveLogs(name: string): void {
    const { apps } = this.#world;
    const [from, to] = [`${apps}/${this.#process.name}`, `${apps}/${name}`];
    if (lstatIfAny(from) === undefined) return;
    let number = 1;
    // No process can have such a name.
    while (lstatIfAny(`${to}.${number}`) !== undefined) number++;
    if (lstatIfAny(to) !== undefined) Deno.renameSync(to, `${to}.${number}`);
    Deno.renameSync(from, to);
  }

  /** Stops all timers and checks. The app keeps running; nothing is launched any more. */
  close(): void {
    this.#closed = true;
    this.#disarm?.();
    this.sources.stop();
    this.#cancelProof?.();
    this.run.close();
  }

  /** The pid is known shortly after the start. Waits for it, to pass it to the hook. */
  async #hookAside(hook: HookName): Promise<void> {
    if (hook === "postStart" || hook === "postRestart") await this.run.pidKnown;
    const run = this.hooks.run(hook);
    this.#process.post({ type: "hook_begun", hook });
    await run;
  }

  #awaitDependencies(attempt: number): void {
    const abort = new AbortController();
    this.#disarm = () => abort.abort();
    this.hooks.journal.unlaunched = "";
    const process = this.#process;
    process.machine.dependencies(process, abort.signal).then(
      () => this.#process.post({ type: "dependencies_met", attempt }),
      (error) => {
        if (abort.signal.aborted) return;
        this.#process.post({ type: "dependency_failed", attempt, reason: messageOf(error) });
      },
    );
  }

  #awaitConnection(attempt: number): void {
    this.#disarm?.();
    const sockets = sharedSockets(this.#spec);
    if (sockets === undefined) return;
    this.#disarm = this.#world.awaitConnection(
      sockets,
      (address) => this.#process.post({ type: "connected", attempt, address }),
      (error) => {
        this.#process.post({ type: "listen_failed", attempt, reason: messageOf(error) });
      },
    );
  }

  async #launch(attempt: number): Promise<void> {
    this.#launchAbort = new AbortController();
    this.hooks.journal.unlaunched = "";
    try {
      await this.run.cleanedUp;
      if (!this.#isWanted(attempt)) return;
      const { signal } = this.#launchAbort;
      if (this.#spec.hooks.preStart !== undefined) {
        const failure = await this.hooks.run("preStart", { signal, config: this.#spec });
        if (failure !== undefined) throw new Error(failure);
      }
      const fetched = this.#world.secrets.fetch(this.#spec, "fresh", signal);
      // Awaited only if needed: another turn of the loop would delay every start.
      if (fetched !== undefined) await fetched;
      for (let busy; (busy = this.#world.busyLaunching) !== undefined;) await busy;
      if (this.#isWanted(attempt)) this.#spawn(attempt);
    } catch (error) {
      const lack = { at: this.#world.clock.now(), random: this.#world.random() };
      const reason = messageOf(error);
      this.#process.post({ type: "launch_failed", attempt, reason, ...isLack(error) && { lack } });
    }
  }

  /** The configuration to launch. Looked up at each use: it may be changed meanwhile. */
  get #spec(): ProcessConfig {
    return this.#process.specOf(this.#process.snapshot.generation);
  }

  #isWanted(attempt: number): boolean {
    const { snapshot } = this.#process;
    return !this.#closed && snapshot.state === "starting" && snapshot.attempt === attempt;
  }

  #spawn(attempt: number): void {
    const { id, name, instanceIndex, snapshot: { generation, truncatesLog } } = this.#process;
    const config = this.#spec;
    const launched = { id, name, instanceIndex, config, generation, truncatesLog };
    const spawned = spawnRun(launched, this.#world, (run) => {
      this.#process.post({ type: "launching", attempt, run });
    });
    this.#runtime = spawned.runtime;
    this.hooks.journal.launched(spawned.run);
    this.run.begin(spawned, attempt);
  }

  /** Ends a launch that is under way, its hook included. */
  async #giveUpLaunch(): Promise<void> {
    this.#launchAbort.abort();
    await this.#launching;
  }

  /** The runtime of a process that this daemon has not launched; its files may be gone by now. */
  #runtimeOrNone(): string {
    try {
      const { id, name, instanceIndex, config } = this.#process;
      // Nothing is launched, so no secret is needed and nothing is run.
      const asked = { id, name, instanceIndex, config: { ...config, secrets: {} } };
      return launchPlan(asked, this.#world, "assumed").runtime;
    } catch {
      return this.#process.config.runtime;
    }
  }
}
