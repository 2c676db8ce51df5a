/** Changes the configuration of processes. Replaces runs only if the change needs it. */

import { ProcsupError } from "../model/errors.ts";
import { expanded, keptUnder, wireKeys } from "../model/key_spelling.ts";
import { mergePatch } from "../model/merge_patch.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { PendingRequest } from "../model/process_state.ts";
import { AT_REST } from "../model/transition_steps.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { isReplaced, runBulk } from "./bulk.ts";
import { configChanges, type FieldChange, needsRestart } from "../model/config_diff.ts";
import type { Registry } from "./registry.ts";
import {
  hasFailed,
  isLatest,
  madeByLater,
  putBack,
  type RollingOptions,
  rollingReload,
  type RollingResult,
} from "./rolling_reload.ts";

interface ReloadOptions extends Omit<RollingOptions, "config"> {
  /** Reload all of them, even if nothing has changed. */
  readonly always?: boolean;
  /** Start those that are at rest afterwards; recorded together with the configuration. */
  readonly next?: PendingRequest | undefined;
}

export interface ReconfigureOptions extends ReloadOptions {
  /** Keys in wire form. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** True: other keys get their defaults. False: the keys are a merge patch. */
  readonly replace?: boolean;
}

/** The result, with outcomes of the reloaded processes. */
export interface Reconfigured extends RollingResult {
  readonly fields: readonly FieldChange[];
  /** Processes that were not reloaded and use the configuration from their next start. */
  readonly told: readonly ManagedProcess[];
}

/**
 * Reloads processes that need a restart for the change, see `needsRestart()`; apps that become jobs
 * are stopped. The others use the configuration from their next start, or keep the old one if a reload
 * fails. Call `supersede()` first: the latest of several requests wins.
 */
export async function reloadWith(
  registry: Registry,
  processes: readonly ManagedProcess[],
  config: ProcessConfig,
  { always = false, next, ...rolling }: ReloadOptions,
): Promise<Reconfigured> {
  const fields = firstChanges(processes, config);
  const before = new Map(processes.map((process) => [process, process.config]));
  const replaced = always
    ? processes
    : needsRestart(fields)
    ? processes.filter((process) => isReplaced(process, config))
    : [];
  registry.recorder.together(() => {
    for (const process of processes) {
      if (fields.length === 0 || replaced.includes(process) || !isLatest(process, config)) continue;
      // At once: it may be started while others are reloaded.
      process.reconfigure(config);
      if (next !== undefined && AT_REST.has(process.snapshot.state)) {
        registry.putOnRecord([process], next);
      }
    }
  });
  const result = replaced.length === 0
    ? { outcomes: [], rolledBack: false }
    : config.cron !== undefined && !always
    ? await registry.recorder.together(() => becomeJobs(replaced, config))
    : await rollingReload(registry, replaced, { ...rolling, config });
  const reloaded = new Set(result.outcomes.map(({ process }) => process));
  const others = processes.filter((process) => !reloaded.has(process));
  const failed = hasFailed(result.outcomes);
  if (failed) {
    await runBulk(others.filter((process) => process.wasGiven(config)), async (process) => {
      const isStarted = process.snapshot.run !== null;
      if (isStarted && !result.rolledBack) return;
      await putBack(process, before.get(process)!, { ...rolling, config }, !isStarted);
    });
  }
  registry.dropUnusedSockets(config.name);
  return { ...result, fields, told: failed ? [] : others };
}

/** Stops apps that become jobs: only their schedule starts them from now on. */
async function becomeJobs(
  processes: readonly ManagedProcess[],
  config: ProcessConfig,
): Promise<RollingResult> {
  const outcomes = await runBulk(processes, async (process) => {
    const before = process.config;
    // Recorded with the stop: if the daemon is killed meanwhile, it is a job all the same.
    if (isLatest(process, config)) process.reconfigure(config);
    try {
      await process.stop({ reason: "stopped to wait for its schedule" });
    } catch (error) {
      if (isLatest(process, config)) process.reconfigure(before);
      throw error;
    }
    await madeByLater(process, config);
  });
  return { outcomes, rolledBack: false };
}

/**
 * The changes of the first process that differs: after a failed rolling reload not all do. The number
 * of instances is changed by scaling.
 */
export function firstChanges(
  processes: readonly ManagedProcess[],
  config: ProcessConfig,
): readonly FieldChange[] {
  return processes.map(({ config: now }) =>
    configChanges(now, { ...config, instances: now.instances })
  ).find((changes) => changes.length > 0) ?? [];
}

/**
 * The changed configuration of processes, in wire form. Throws `bad_request` if they are not
 * instances of one process, and `invalid_config` if a key cannot be changed.
 */
export function changedConfig(
  processes: readonly ManagedProcess[],
  { keys, replace = false }: ReconfigureOptions,
): Record<string, unknown> {
  const before = oneConfig(processes, keys);
  const { name, instances } = before;
  return replace
    ? mergePatch({}, { ...keys, name, instances })
    : mergePatch(keptUnder(keys, wireKeys(before)), expanded(keys));
}

/** The common configuration of processes. Throws like `changedConfig()`. */
function oneConfig(
  processes: readonly ManagedProcess[],
  patch: Readonly<Record<string, unknown>>,
): ProcessConfig {
  const { config } = processes[0]!;
  const names = new Set(processes.map((process) => process.config.name));
  if (names.size > 1) {
    const quoted = [...names].map((name) => `"${name}"`).join(", ");
    throw new ProcsupError("bad_request", `Cannot give one configuration to ${quoted}`);
  }
  for (const [key, why] of Object.entries(FIXED)) {
    const value = patch[key];
    if (value === undefined || value === config[key as keyof typeof FIXED]) continue;
    throw new ProcsupError("invalid_config", `Invalid "${key}": ${why}`);
  }
  return config;
}

const FIXED = {
  name: "a process cannot be renamed",
  instances: "scale changes how many there are",
} as const;
