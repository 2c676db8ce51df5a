/** Changes the configuration of one process, and replaces what runs only where the change asks for it. */

import { wireKeys } from "../model/key_spelling.ts";
import { mergePatch } from "../model/merge_patch.ts";
import { expanded } from "../model/shorthand.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { isKeptUp } from "./apply.ts";
import { configChanges, type FieldChange, needsRestart } from "./config_diff.ts";
import type { Fleet } from "./fleet.ts";
import {
  oneConfig,
  type RollingOptions,
  rollingReload,
  type RollingResult,
} from "./rolling_reload.ts";

/** What becomes of a configuration. */
export interface ReconfigureOptions extends Omit<RollingOptions, "config"> {
  /** Keys in wire form. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** The keys are all there is, the others get their defaults. Else they are a merge patch. */
  readonly replace?: boolean;
}

/** What came of it. */
export interface Reconfigured extends RollingResult {
  readonly fields: readonly FieldChange[];
  /** Whether what runs was replaced, and not only told. */
  readonly restarted: boolean;
}

/**
 * Gives the instances that a target addresses another configuration. The policy is that of
 * configuration files: see `needsRestart()`. Throws as `Fleet.check()` does before anything is done.
 */
export async function reconfigure(
  fleet: Fleet,
  target: string,
  { keys, replace = false, ...rolling }: ReconfigureOptions,
): Promise<Reconfigured> {
  const processes = fleet.registry.resolve(target);
  if (processes.length === 0) {
    return { outcomes: [], rolledBack: false, fields: [], restarted: false };
  }
  const { name, instances } = oneConfig(processes, keys);
  const before = wireKeys(processes[0]!.config);
  const wire = replace
    ? mergePatch({}, { ...keys, name, instances })
    : mergePatch(before, expanded(keys));
  const config = fleet.check(wire);
  fleet.registry.checkDependencies(config);
  await fleet.checkLoaded(config);
  const fields = firstChanges(processes, config);
  const replaced = needsRestart(fields) ? processes.filter(isKeptUp) : [];
  if (fields.length === 0) {
    return { outcomes: processes.map(unchanged), rolledBack: false, fields, restarted: false };
  }
  const result = await rollingReload(replaced, { ...rolling, config });
  // One that did not come up has the others keep what they had.
  const failed = result.outcomes.some(({ error }) => error !== undefined);
  const told = failed ? [] : processes.filter((process) => !replaced.includes(process));
  for (const process of told) process.reconfigure(config);
  await fleet.scheduler.sync();
  return {
    ...result,
    outcomes: [...result.outcomes, ...told.map(unchanged)],
    fields,
    restarted: replaced.length > 0,
  };
}

function unchanged(process: ManagedProcess): { readonly process: ManagedProcess } {
  return { process };
}

/** After a rolling reload that failed the instances differ among each other. */
function firstChanges(
  processes: readonly ManagedProcess[],
  config: ManagedProcess["config"],
): readonly FieldChange[] {
  return processes.map((process) => configChanges(process.config, config))
    .find((changes) => changes.length > 0) ?? [];
}
