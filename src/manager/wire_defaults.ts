/** What every process of a supervisor gets unless its configuration says otherwise. Pure. */

import { inputKeys } from "../model/key_spelling.ts";
import type { ProcessDefaults } from "../model/config_input.ts";

/** The supervisor's defaults, in wire form, as far as they are meant for a configuration. */
export function wireDefaults(
  { restWindow, restartPolicy, ...others }: ProcessDefaults,
  { cron }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // The default is meant for what is kept up; a job has its own.
  const policy = cron === undefined ? { restartPolicy } : {};
  return inputKeys({ restartWindow: restWindow, ...policy, ...others });
}
