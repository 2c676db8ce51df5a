/** Adds defaults to configurations, and checks whether they can be started. */

import { inputKeys } from "../model/key_spelling.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import { dirname } from "../npm/path.js";
import { checkWatch } from "../platform/watch_paths.ts";
import { launchPlan } from "../process/spawn.ts";
import { refuseTakenSockets } from "../process/launch_setup.ts";
import { readyPattern } from "../process/readiness.ts";
import { fetchSecrets } from "../process/secrets.ts";
import type { World } from "../process/world.ts";
import { checkLogPaths } from "./log_path_checks.ts";

/** The supervisor's defaults that apply to a configuration, in wire form. */
export function wireDefaults(
  { restWindow, restartPolicy, ...others }: ProcessDefaults,
  { cron }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // The default policy is for processes that are kept up; jobs have their own.
  const policy = cron === undefined ? { restartPolicy } : {};
  return inputKeys({ restartWindow: restWindow, ...policy, ...others });
}

/** Throws `invalid_config` for problems that can be found before a start. Fetches secrets last. */
export async function checkConfig(
  config: ProcessConfig,
  { world: { inherited, apps }, others }: {
    readonly world: Pick<World, "inherited" | "apps">;
    readonly others: Iterable<ProcessConfig>;
  },
): Promise<void> {
  launchPlan({ id: "", name: config.name, instanceIndex: 0, config }, inherited, "left out");
  checkWatch(config);
  refuseTakenSockets(config, others);
  checkLogPaths(config, others, dirname(apps));
  await fetchSecrets(config, inherited, "fresh");
  if (config.readyLog !== undefined) await readyPattern(config.readyLog).ready();
}
