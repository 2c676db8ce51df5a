/** Reload with overlap: the new run first, and the old one ended when the new one is ready. */

import { ProcsupError } from "../model/errors.ts";
import { wantsReadiness } from "../model/outcomes.ts";
import { NEW, type ProcessEvent, type Run } from "../model/process_state.ts";
import type { Child } from "../platform/launcher.ts";
import type { Attended } from "./attended.ts";
import { HealthMonitor } from "./health_monitor.ts";
import { awaitReadiness } from "./readiness.ts";
import { RunEnd } from "./run_end.ts";
import { fetchSecrets } from "./secrets.ts";
import { type Spawned, spawnRun } from "./spawn.ts";

/** The process that is reloaded, as the overlap sees it. */
export interface OverlapHost {
  /** What goes along with a run of this process, which is `spawned`. */
  attended(spawned: Spawned, post: (event: ProcessEvent) => void): Attended;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: Attended["config"];
  readonly snapshot: Attended["snapshot"];
  readonly world: Attended["world"];
  post(event: ProcessEvent): void;
  /** Aborted when the process leaves its running state. */
  readonly leaving: AbortSignal;
  /** Makes the new run the process's own; returns the old one. */
  swap(spawned: Spawned, pid: number): Child;
  preStop(): Promise<unknown>;
}

/** Replaces the run. Throws `start_failed`, the old run untouched, when the new one does not come up. */
export async function overlapReload(host: OverlapHost): Promise<void> {
  await fetchSecrets(host.config, host.world.inherited, "fresh");
  const spawned = spawnSuccessor(host);
  try {
    const [pid] = await Promise.all([spawned.child.pid, up(host, spawned)]);
    const old = host.swap(spawned, pid);
    await host.preStop();
    await dispose(host, old);
  } catch (error) {
    if (host.snapshot.run?.runId !== spawned.run.runId) await dispose(host, spawned.child);
    throw error;
  }
}

/** Launches the new run; its intent is taken back when that fails. */
function spawnSuccessor(host: OverlapHost): Spawned {
  const { attempt } = host.snapshot;
  let intent: Run | undefined;
  try {
    return spawnRun(host, host.world, (run) => {
      intent = run;
      host.post({ type: "successor_launching", attempt, run });
    });
  } catch (error) {
    if (intent !== undefined) host.post({ type: "disposed", run: intent });
    throw error;
  }
}

async function dispose({ world, config, post }: OverlapHost, child: Child): Promise<void> {
  await new RunEnd(world, config.stopTimeoutMs).end(child, config.stopSignal);
  post({ type: "disposed", run: child.run });
  world.forget(child.run.runId);
}

/** Resolves when the new run is ready or, without a readiness check, has lived for min_uptime. */
async function up(host: OverlapHost, spawned: Spawned): Promise<void> {
  const { config, world, leaving, name } = host;
  const outcome = Promise.withResolvers<string | undefined>();
  const process = host.attended(spawned, (event) => {
    if (event.type === "became_ready") outcome.resolve(undefined);
    if (event.type === "ready_timed_out") outcome.resolve(event.reason);
  });
  const attendants = wantsReadiness(config)
    ? [
      awaitReadiness({ ...process, snapshot: NEW }),
      ...(config.healthCheck === undefined
        ? []
        : [new HealthMonitor({ ...process, snapshot: NEW }, config.healthCheck)]),
    ]
    : [{ stop: world.clock.after(config.minUptimeMs, () => outcome.resolve(undefined)) }];
  void spawned.child.exited.then(() => outcome.resolve("it ended at once"));
  leaving.addEventListener("abort", () => outcome.resolve("the process was stopped meanwhile"));
  try {
    const problem = await outcome.promise;
    if (problem === undefined) return;
    throw new ProcsupError("start_failed", `Cannot reload "${name}": ${problem}`);
  } finally {
    for (const attendant of attendants) attendant.stop();
  }
}
