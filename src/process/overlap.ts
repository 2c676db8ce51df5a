/** Reload with overlap: the new run first, and the old one ended when the new one is ready. */

import { ProcsupError } from "../model/errors.ts";
import { wantsReadiness } from "../model/outcomes.ts";
import { NEW, type ProcessEvent, type Run } from "../model/process_state.ts";
import type { Child } from "../platform/launcher.ts";
import type { Attended } from "./attended.ts";
import { HealthMonitor } from "./health_monitor.ts";
import { orAborted } from "./or_aborted.ts";
import { awaitReadiness } from "./readiness.ts";
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
  /** False when the hook failed. */
  preStart(): Promise<boolean>;
  preStop(): Promise<unknown>;
  /** Ends the run that is not the process's own. */
  endOther(child: Child): Promise<void>;
}

/** Replaces the run. Throws `start_failed`, the old run untouched, when the new one does not come up. */
export async function overlapReload(host: OverlapHost): Promise<void> {
  refuseLeft(host);
  const begins = await host.preStart();
  refuseLeft(host);
  if (!begins) throw failure(host.name, "pre_start hook failed");
  await orAborted(fetchSecrets(host.config, host.world.inherited, "fresh"), host.leaving);
  refuseLeft(host);
  const spawned = spawnSuccessor(host);
  try {
    const [pid] = await Promise.all([spawned.child.pid, up(host, spawned)]);
    refuseLeft(host);
    const old = host.swap(spawned, pid);
    await host.preStop();
    await host.endOther(old);
  } catch (error) {
    if (host.snapshot.run?.runId !== spawned.run.runId) await host.endOther(spawned.child);
    throw error;
  }
}

/** Throws `start_failed` when the process has left its running state since. */
function refuseLeft({ leaving, name }: OverlapHost): void {
  if (leaving.aborted) throw failure(name, "it was stopped meanwhile");
}

function failure(name: string, why: string): ProcsupError {
  return new ProcsupError("start_failed", `Cannot reload "${name}": ${why}`);
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
  try {
    const problem = await orAborted(outcome.promise, leaving);
    if (problem !== undefined) throw failure(name, problem);
  } finally {
    for (const attendant of attendants) attendant.stop();
  }
}
