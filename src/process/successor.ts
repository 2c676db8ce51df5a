/** The second run of a reload with overlap: starts it, and waits until it may take over. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Input, ReplaceRequest, RequestFailure } from "../model/process_state.ts";
import { isReadyByHealth, wantsReadiness } from "../model/transition_steps.ts";
import { orAborted } from "../platform/concurrency.ts";
import type { Child } from "../platform/launcher.ts";
import { HealthMonitor } from "./health_monitor.ts";
import type { MonitoredRun } from "./monitor.ts";
import type { ProcessHandle } from "./process_handle.ts";
import { awaitReadiness } from "./readiness.ts";
import { fetchSecrets } from "./secrets.ts";
import { type Spawned, spawnRun } from "./spawn.ts";
import { withoutName } from "./start_and_wait.ts";
import type { World } from "./world.ts";

interface SuccessorParts {
  readonly process: ProcessHandle;
  readonly world: World;
  readonly request: ReplaceRequest;
  /** Resolves when nothing is left of earlier second runs. */
  readonly cleanedUp: () => Promise<unknown>;
  /** Resolves with how the hook failed, if it did. */
  preStart(config: ProcessConfig, signal: AbortSignal): Promise<string | undefined>;
  /** Called when it was launched. */
  launched(spawned: Spawned): void;
  /** The run as its monitors see it. */
  monitored(spawned: Spawned, post: (input: Input) => void): MonitoredRun;
}

export class Successor {
  readonly #parts: SuccessorParts;
  readonly #generation: number;
  readonly #config: ProcessConfig;
  readonly #abort = new AbortController();
  /** The run, once it was launched. */
  spawned: Spawned | undefined;

  constructor(parts: SuccessorParts) {
    this.#parts = parts;
    const { process, request } = parts;
    this.#generation = request.generation ?? process.snapshot.generation;
    this.#config = process.specOf(this.#generation);
  }

  get child(): Child | undefined {
    return this.spawned?.child;
  }

  /** Gives up the launch, or the wait. The run itself is ended by the effect `release`. */
  abandon(): void {
    this.#abort.abort();
  }

  /** Posts `replaced` when it is up, or `successor_failed`. */
  async bringUp(): Promise<void> {
    const { process, request, world } = this.#parts;
    try {
      const spawned = await this.#launch();
      if (spawned === undefined) return;
      const [pid] = await Promise.all([spawned.child.pid, this.#up(spawned)]);
      if (this.#abort.signal.aborted) return;
      const { run } = spawned;
      process.post({ type: "replaced", request, at: world.clock.now(), run, pid });
    } catch (error) {
      process.post({ type: "successor_failed", request, failure: failureOf(error) });
    }
  }

  /** Launches it, unless it is abandoned meanwhile. */
  async #launch(): Promise<Spawned | undefined> {
    const { process, request, world, cleanedUp } = this.#parts;
    const { signal } = this.#abort;
    await cleanedUp();
    if (signal.aborted) return undefined;
    const problem = await this.#parts.preStart(this.#config, signal);
    if (signal.aborted) return undefined;
    if (problem !== undefined) throw failed(problem);
    await fetchSecrets(this.#config, world.inherited, "fresh", signal);
    for (let busy; (busy = world.busyLaunching) !== undefined;) await busy;
    if (signal.aborted) return undefined;
    const { id, name, instanceIndex } = process;
    const [config, generation] = [this.#config, this.#generation];
    const launched = { id, name, instanceIndex, config, generation };
    this.spawned = spawnRun(launched, world, (run) => {
      process.post({ type: "successor_launching", request, run });
    });
    this.#parts.launched(this.spawned);
    return this.spawned;
  }

  /** Resolves when it is ready or, without a readiness check, has lived for min_uptime. */
  async #up(spawned: Spawned): Promise<void> {
    const { world } = this.#parts;
    const { child } = spawned;
    const outcome = Promise.withResolvers<string | undefined>();
    const run = this.#parts.monitored(spawned, (input) => {
      if (input.type === "became_ready") outcome.resolve(undefined);
      if (input.type === "ready_timed_out") outcome.resolve(input.reason);
    });
    const enough = () => world.hasEnded(child.run.runId) || outcome.resolve(undefined);
    const { healthCheck, minUptimeMs } = this.#config;
    const isChecked = healthCheck !== undefined && isReadyByHealth(this.#config);
    const monitors = wantsReadiness(this.#config)
      ? [awaitReadiness(run), ...isChecked ? [new HealthMonitor(run, healthCheck)] : []]
      : [{ stop: world.clock.after(minUptimeMs, enough) }];
    void child.exited.then(() => outcome.resolve("it ended at once"));
    try {
      const problem = await orAborted(outcome.promise, this.#abort.signal);
      if (problem !== undefined) throw failed(problem);
    } finally {
      for (const monitor of monitors) monitor.stop();
    }
  }
}

function failed(why: string): ProcsupError {
  return new ProcsupError("start_failed", why);
}

function failureOf(error: unknown): RequestFailure {
  const why = withoutName(messageOf(error));
  if (!(error instanceof ProcsupError)) return { code: "start_failed", why };
  return { code: error.code, why, ...error.hint && { hint: error.hint } };
}
