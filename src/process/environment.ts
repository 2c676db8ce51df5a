/** The environment an app starts with. */

import { baseName } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";

/** What one process's environment is made of. */
export interface EnvironmentSource {
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: Pick<ProcessConfig, "env" | "namespace">;
}

/**
 * The supervisor's own environment without its own variables, the configured overlay, and what
 * tells the app who it is. `PROCSUP_ID` is added by the launch.
 */
export function appEnvironment(
  inherited: Readonly<Record<string, string>>,
  source: EnvironmentSource,
): Record<string, string> {
  return {
    ...inherited,
    ...source.config.env,
    PROCSUP_NAME: source.name,
    PROCSUP_BASE_NAME: baseName(source.name),
    PROCSUP_INSTANCE: String(source.instanceIndex),
    PROCSUP_NAMESPACE: source.config.namespace,
  };
}

/** What apps inherit from this process: all but procsup's own variables. */
export function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(Deno.env.toObject());
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith("PROCSUP_")));
}
