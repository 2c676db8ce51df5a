/** The second run of a reload with overlap: starts it, and waits until it may take over. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { HealthRecord } from "../model/health.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ReplaceRequest, RequestFailure } from "../model/process_state.ts";
import { withoutName } from "../model/start_failed.ts";
import { wantsReadiness } from "../model/transition_steps.ts";
import { orAborted, unlessAborted } from "../platform/concurrency.ts";
import type { Child } from "../platform/launch/launcher.ts";
import { HealthMonitor } from "./health_monitor.ts";
import type { HealthCheckRun, Journal } from "./journal.ts";
import { proof } from "./proof.ts";
import type { RunParts, RunView } from "./run_view.ts";
import type { ProcessHooks } from "./process_hooks.ts";
import type { ProcessActor } from "./process_actor.ts";
import { awaitReadiness } from "./readiness.ts";
import { type Spawned, spawnRun } from "./spawn.ts";
import type { World } from "../platform/world.ts";

interface SuccessorParts {
  readonly process: ProcessActor;
  readonly request: ReplaceRequest;
  /** Resolves when nothing is left of earlier second runs. */
  readonly cleanedUp: () => Promise<unknown>;
  readonly hooks: ProcessHooks;
  /** The run as its monitors see it. */
  view(parts: RunParts): RunView;
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

  get #world(): World {
    return this.#parts.process.machine.world;
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
    const { process, request } = this.#parts;
    try {
      const spawned = await this.#launch();
      if (spawned === undefined) return;
      const [pid] = await Promise.all([spawned.child.pid, this.#up(spawned)]);
      if (this.#abort.signal.aborted) return;
      const { run } = spawned;
      const at = this.#world.clock.now();
      process.post({ type: "replaced", request, at, run, pid });
    } catch (error) {
      process.post({ type: "successor_failed", request, failure: failureOf(error) });
    }
  }

  /** Launches it, unless it is abandoned meanwhile. */
  async #launch(): Promise<Spawned | undefined> {
    const { process, request, cleanedUp, hooks } = this.#parts;
    const world = this.#world;
    const { signal } = this.#abort;
    await cleanedUp();
    if (signal.aborted) return undefined;
    const problem = await hooks.run("preStart", { signal, config: this.#config });
    if (signal.aborted) return undefined;
    if (problem !== undefined) throw failed(problem);
    await world.secrets.fetch(this.#config, "fresh", signal);
    for (let busy; (busy = world.busyLaunching) !== undefined;) await busy;
    if (signal.aborted) return undefined;
    const { id, name, instanceIndex } = process;
    const [config, generation] = [this.#config, this.#generation];
    const { truncatesLog } = process.snapshot;
    const launched = { id, name, instanceIndex, config, generation, truncatesLog };
    this.spawned = spawnRun(launched, world, (run) => {
      process.post({ type: "successor_launching", request, run });
    });
    hooks.journal.launched(this.spawned.run);
    return this.spawned;
  }

  /** Resolves when it is proven. Throws why it cannot be. */
  async #up({ child, run, launchedAt }: Spawned): Promise<void> {
    const { journal } = this.#parts.hooks;
    const world = this.#world;
    const fate = new Fate(!wantsReadiness(this.#config), journal);
    const view = this.#parts.view({
      ...{ run, pid: () => child.pid, attempt: 0, isAdopted: false, config: this.#config },
      ...fate.reports,
      uptime: () => world.clock.steady() - launchedAt,
    });
    void child.exited.then(() => fate.fail("it ended at once"));
    const { healthCheck } = this.#config;
    const health = healthCheck && new HealthMonitor(view, healthCheck);
    const readiness = fate.isReady ? undefined : awaitReadiness(view);
    const over = new AbortController();
    const record = () => health?.record;
    const proven = fate.ready.then(() => {
      // Its time limit ends here: the proof has its own.
      readiness?.stop();
      return this.#proof(view, record, over.signal);
    });
    const { signal } = this.#abort;
    try {
      const problem = await orAborted(Promise.race([fate.failed, proven]), signal);
      if (problem !== undefined) throw failed(problem);
      // Its end may be noticed late.
      if (world.hasEnded(run.runId) && !signal.aborted) throw failed(await fate.failed);
    } finally {
      over.abort();
      health?.stop();
      readiness?.stop();
    }
  }

  #proof(
    view: RunView,
    record: () => HealthRecord | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock } = this.#world;
    return proof({
      ...{ config: this.#config, clock, record },
      uptimeMs: () => view.uptimeMs,
      problem: () => view.journal.checks.at(-1)?.problem ?? "",
    }, signal);
  }
}

/** What becomes of a second run, as its monitors report it. */
class Fate {
  readonly #failed = Promise.withResolvers<string>();
  readonly #ready = Promise.withResolvers<void>();
  /** Resolves with the first reason why it must not take over. */
  readonly failed: Promise<string> = this.#failed.promise;
  readonly ready: Promise<void> = this.#ready.promise;
  isReady = false;
  readonly fail: (why: string) => void = this.#failed.resolve;
  readonly #journal: Pick<Journal, "checked">;
  /** Its last check. Meanwhile the current run is checked, too. */
  #checks: readonly HealthCheckRun[] = [];
  readonly reports: Pick<
    RunParts,
    "isReady" | "untilReady" | "post" | "journal" | "healthChanged" | "signal"
  > = {
    isReady: () => this.isReady,
    untilReady: (signal) => unlessAborted(signal, () => this.ready),
    post: (input) => {
      if (input.type === "became_ready") this.#becomeReady();
      else if ("reason" in input && input.reason) this.fail(input.reason);
    },
    healthChanged: (health, reason) => {
      if (health === "unhealthy") this.fail(`unhealthy: ${reason}`);
    },
    journal: this.#ownChecks(),
    signal: () => false,
  };

  constructor(isReady: boolean, journal: Pick<Journal, "checked">) {
    this.#journal = journal;
    if (isReady) this.#becomeReady();
  }

  #ownChecks(): RunParts["journal"] {
    const checks = () => this.#checks;
    return {
      get checks() {
        return checks();
      },
      checked: (run) => {
        this.#checks = [run];
        this.#journal.checked(run);
      },
    };
  }

  #becomeReady(): void {
    this.isReady = true;
    this.#ready.resolve();
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
