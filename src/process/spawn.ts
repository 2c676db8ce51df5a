/** Makes a run: plan, logs, the intent on record, and the launch. */

import type { Run } from "../model/process_state.ts";
import { logFiles, prepareLogFiles } from "../logs/log_files.ts";
import { logEnd } from "../logs/log_position.ts";
import type { Child } from "../platform/launcher.ts";
import { type Launchable, launchPlan, saysReady } from "./launch_plan.ts";
import type { World } from "./world.ts";

/** A run that was just launched. */
export interface Spawned {
  readonly child: Child;
  readonly run: Run;
  /** Name of the runtime; `""` for a plain program. */
  readonly runtime: string;
  /** Steady milliseconds. */
  readonly launchedAt: number;
}

/**
 * Launches. `intend` puts the run on record before there is anything to record, and may throw to
 * refuse it. Throws `ProcsupError` when the process cannot be started.
 */
export function spawnRun(
  process: Launchable,
  world: World,
  intend: (run: Run) => void,
): Spawned {
  const plan = launchPlan(process, world.inherited);
  const files = logFiles(world.apps, process.name);
  prepareLogFiles(files);
  const runId = crypto.randomUUID();
  const outputFrom = [logEnd(files.stdout), logEnd(files.stderr)] as const;
  intend({ runId, wrapperPid: 0, wrapperStart: "", bootId: world.bootId, outputFrom });
  const env = saysReady(process.config)
    ? { ...plan.env, PROCSUP_READY_FILE: world.readyFile(runId) }
    : plan.env;
  const { argv, cwd, setup } = plan;
  const child = world.launch({
    ...{ runId, argv, cwd, env, ...files },
    setup,
  });
  const run = { ...child.run, outputFrom };
  return { child: { ...child, run }, run, runtime: plan.runtime, launchedAt: world.clock.steady() };
}
