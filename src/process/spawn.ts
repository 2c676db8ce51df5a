/** Makes a run: plans it, prepares its logs, records the intent, launches it. */

import type { Run } from "../model/process_state.ts";
import { logFiles, prepareLogFiles } from "../logs/log_files.ts";
import { logPaths } from "../model/log_paths.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { logEnd } from "../logs/log_position.ts";
import type { Child, LaunchSetup } from "../platform/launcher.ts";
import { type LaunchedProcess, launchPlan } from "./launch_plan.ts";
import { saysReady } from "./launch_setup.ts";
import type { World } from "./world.ts";

/** A run that was just launched. */
export interface Spawned {
  readonly child: Child;
  readonly run: Run;
  /** Name of the runtime; `auto` for a plain program. */
  readonly runtime: string;
  /** Steady milliseconds. */
  readonly launchedAt: number;
}

/**
 * Launches a run. `intend` records it before there is a process, and may throw to refuse it. Throws
 * `ProcsupError` when the process cannot be started.
 */
export function spawnRun(
  process: LaunchedProcess,
  world: World,
  intend: (run: Run) => void,
): Spawned {
  const plan = launchPlan(process, world.inherited);
  const logs = logPaths(process.config, process.instanceIndex);
  const files = logFiles(world.apps, process.name, logs);
  const unwritten = prepareLogFiles(`${world.apps}/${process.name}`, files);
  const runId = crypto.randomUUID();
  const endOf = (log: string) => unwritten.has(log) ? 0 : logEnd(log);
  const outputFrom = [endOf(files.stdout), endOf(files.stderr)] as const;
  const { argv, cwd, setup } = plan;
  const more = {
    outputFrom,
    ...(setup.user && { user: setup.user.uid }),
    ...(process.config.log.stdout ?? process.config.log.stderr ? { logs } : {}),
  };
  intend({ runId, wrapperPid: 0, wrapperStart: "", bootId: world.bootId, ...more });
  const env = saysReady(process.config)
    ? { ...plan.env, PROCSUP_READY_FILE: readyFile(world, runId, setup) }
    : plan.env;
  const child = world.launch({
    ...{ runId, name: process.name, argv, cwd, env },
    stdout: files.stdout,
    stderr: logs.stderr ?? files.stderr,
    piped: process.config.log.pipe,
    stdin: process.config.stdin ?? world.stdin,
    tty: process.config.tty,
    setup,
  });
  const run = { ...child.run, ...more };
  return { child: { ...child, run }, run, runtime: plan.runtime, launchedAt: world.clock.steady() };
}

function readyFile(world: World, runId: string, { user }: LaunchSetup): string {
  try {
    return world.readyFile(runId, user);
  } catch (cause) {
    const why = `its ready file cannot be made: ${messageOf(cause)}`;
    throw new ProcsupError("start_failed", why, {
      hint: "Use ready_log or a health_check instead",
      cause,
    });
  }
}
