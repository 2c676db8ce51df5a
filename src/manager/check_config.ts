/** What a configuration gets by default, and whether it can be started. */

import { inputKeys } from "../model/key_spelling.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ProcessDefaults } from "../model/config_input.ts";
import { dirname } from "../npm/path.js";
import { launchPlan } from "../process/launch_plan.ts";
import { refuseTakenSockets } from "../process/launch_setup.ts";
import { readyPattern } from "../process/line_watch.ts";
import { fetchSecrets } from "../process/secrets.ts";
import { checkWatch } from "../process/watch/roots.ts";
import type { World } from "../process/world.ts";
import { checkLogPaths } from "./log_path_checks.ts";

/** The supervisor's defaults, in wire form, as far as they are meant for a configuration. */
export function wireDefaults(
  { restWindow, restartPolicy, ...others }: ProcessDefaults,
  { cron }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // The default is meant for what is kept up; a job has its own.
  const policy = cron === undefined ? { restartPolicy } : {};
  return inputKeys({ restartWindow: restWindow, ...policy, ...others });
}

/** Throws `invalid_config` for what can be found out before anything is done; secrets are fetched last. */
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
