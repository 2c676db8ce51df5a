/** The hooks of one process, and the journal of their runs. */

import type { HookConfig, HookName, ProcessConfig } from "../model/process_config.ts";
import { dirname } from "@std/path";
import type { World } from "../platform/world.ts";
import { appUser } from "../platform/users/app_user.ts";
import { appEnvironment } from "./environment.ts";
import { type HookContext, hookFailure, runHook } from "./hooks.ts";
import { type CommandName, type HookRun, Journal } from "./journal.ts";
import type { ProcessActor } from "./process_actor.ts";

interface HookOptions {
  /** Cuts it short. */
  readonly signal?: AbortSignal;
  /** The configuration that it belongs to. Default: the present one. */
  readonly config?: ProcessConfig;
  /** Its standard input, a line; by default it is empty. */
  readonly input?: string;
}

export class ProcessHooks {
  readonly #process: ProcessActor;
  readonly #world: World;
  /** The last runs of its hooks and health checks. */
  readonly journal: Journal = new Journal();

  constructor(process: ProcessActor) {
    this.#process = process;
    this.#world = process.machine.world;
  }

  /**
   * Runs a hook and notes a failure with its output. Resolves with how it failed; undefined if it
   * succeeded, or its failure is ignored.
   */
  async run(name: HookName, options: HookOptions = {}): Promise<string | undefined> {
    const { config = this.#process.config } = options;
    const hook = config.hooks[name];
    return hook && await this.runCommand(name, hook, options);
  }

  /** The same for a hook that is given, or the command of a watch. */
  async runCommand(
    name: CommandName,
    hook: HookConfig,
    { signal, config = this.#process.config, input }: HookOptions = {},
  ): Promise<string | undefined> {
    let ended: HookRun | undefined;
    const ran = (run: HookRun) => void (ended = this.journal.ran(run));
    const run = runHook(name, hook, { ...this.context(config), ran }, { signal, input });
    this.journal.begun(run);
    const problem = await run;
    if (problem === undefined) return undefined;
    this.#process.note(problem);
    if (hook.ignoreFailure) return undefined;
    if (name === "preStart") this.journal.unlaunched = ended!.output;
    return hookFailure(ended!, hook);
  }

  /** The process as hooks and checks see it. */
  context(config: ProcessConfig): HookContext {
    const { id, name, instanceIndex, snapshot } = this.#process;
    const { inherited, secrets } = this.#world;
    return {
      id,
      name,
      snapshot,
      cwd: config.cwd,
      home: dirname(this.#world.apps),
      prepare: () => secrets.fetch(config, "known"),
      env: () => appEnvironment(this.#world, { id, name, instanceIndex, config }),
      user: () => appUser(config),
      inherited,
      hide: (text) => secrets.hide(text, config),
      ran: (run) => this.journal.ran(run),
    };
  }
}
