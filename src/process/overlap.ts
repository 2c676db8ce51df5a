/** Reload with overlap: starts the new run, and ends the old one when the new one is ready. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { isReadyByHealth, wantsReadiness } from "../model/transition_steps.ts";
import type { Input, Run } from "../model/process_state.ts";
import type { Child } from "../platform/launcher.ts";
import type { MonitoredRun } from "./monitor.ts";
import { HealthMonitor } from "./health_monitor.ts";
import { orAborted } from "../platform/concurrency.ts";
import type { ProcessHandle } from "./process_handle.ts";
import { awaitReadiness } from "./readiness.ts";
import { fetchSecrets } from "./secrets.ts";
import { type Spawned, spawnRun } from "./spawn.ts";
import type { World } from "./world.ts";

/** What a reload with overlap needs. */
interface Overlap {
  readonly process: ProcessHandle;
  readonly world: World;
  /** Called when the new run was launched. */
  launched(run: Run): void;
  /** A spawned run of this process, as its monitors see it. */
  monitored(spawned: Spawned, post: (input: Input) => void): MonitoredRun;
  /** Aborted when the process leaves its running state. */
  readonly leaving: AbortSignal;
  /** Makes the new run the process's own; returns the old one. */
  swap(spawned: Spawned, pid: number): Child;
  /** Resolves with how the hook failed, if it did. */
  preStart(): Promise<string | undefined>;
  preStop(): Promise<unknown>;
  /** Ends the run that is not the process's own. */
  endOther(child: Child): Promise<void>;
}

/** Replaces the run. Throws `start_failed` if the new one does not come up; the old one stays. */
export async function overlapReload(overlap: Overlap): Promise<void> {
  refuseLeft(overlap);
  const problem = await overlap.preStart();
  refuseLeft(overlap);
  if (problem !== undefined) throw failure(overlap.process.name, problem);
  const { process: { config }, world: { inherited }, leaving } = overlap;
  await fetchSecrets(config, inherited, "fresh", leaving);
  refuseLeft(overlap);
  const spawned = spawnSuccessor(overlap);
  overlap.launched(spawned.run);
  try {
    const [pid] = await Promise.all([spawned.child.pid, up(overlap, spawned)]);
    refuseLeft(overlap);
    const old = overlap.swap(spawned, pid);
    await overlap.preStop();
    await overlap.endOther(old);
  } catch (error) {
    if (overlap.process.snapshot.run?.runId !== spawned.run.runId) {
      await overlap.endOther(spawned.child);
    }
    throw error;
  }
}

/** Throws `start_failed` when the process has left its running state since. */
function refuseLeft({ leaving, process: { name } }: Overlap): void {
  if (leaving.aborted) throw failure(name, "it was stopped meanwhile");
}

function failure(name: string, why: string, cause?: unknown): ProcsupError {
  return new ProcsupError("start_failed", `Cannot reload "${name}": ${why}`, { cause });
}

/** Launches the new run. Withdraws its intent if that fails. */
function spawnSuccessor(overlap: Overlap): Spawned {
  const { attempt } = overlap.process.snapshot;
  let intent: Run | undefined;
  try {
    return spawnRun(overlap.process, overlap.world, (run) => {
      intent = run;
      overlap.process.post({ type: "successor_launching", attempt, run });
    });
  } catch (error) {
    if (intent !== undefined) overlap.process.post({ type: "released", run: intent });
    if (error instanceof ProcsupError) throw error;
    throw failure(overlap.process.name, messageOf(error), error);
  }
}

/** Resolves when the new run is ready or, without a readiness check, has lived for min_uptime. */
async function up(overlap: Overlap, spawned: Spawned): Promise<void> {
  const { process: { config, name }, world, leaving } = overlap;
  const outcome = Promise.withResolvers<string | undefined>();
  const run = overlap.monitored(spawned, (input) => {
    if (input.type === "became_ready") outcome.resolve(undefined);
    if (input.type === "ready_timed_out") outcome.resolve(input.reason);
  });
  const enough = () => world.hasEnded(spawned.child.run.runId) || outcome.resolve(undefined);
  const monitors = wantsReadiness(config)
    ? [
      awaitReadiness(run),
      ...(config.healthCheck !== undefined && isReadyByHealth(config)
        ? [new HealthMonitor(run, config.healthCheck)]
        : []),
    ]
    : [{ stop: world.clock.after(config.minUptimeMs, enough) }];
  void spawned.child.exited.then(() => outcome.resolve("it ended at once"));
  try {
    const problem = await orAborted(outcome.promise, leaving);
    if (problem !== undefined) throw failure(name, problem);
  } finally {
    for (const monitor of monitors) monitor.stop();
  }
}
