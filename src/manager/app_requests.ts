/** Requests that change apps: a reload, another configuration, another number of instances. */

import type { RollingOptions as Batches } from "../library/options.ts";
import type { FieldChange } from "../model/config_diff.ts";
import { ProcsupError } from "../model/errors.ts";
import { expanded, keptUnder, wireKeys } from "../model/key_spelling.ts";
import { mergePatch } from "../model/merge_patch.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { MAX_INSTANCES } from "../model/process_keys.ts";
import { unmasked } from "../model/secret_values.ts";
import { notFound } from "../model/target.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { UpOptions } from "../process/process_requests.ts";
import { type Outcome, runBulk } from "./bulk.ts";
import { refuseOneForMany } from "./check_config.ts";
import {
  beingDeleted,
  type ChangeResult,
  type Growth,
  type ManagedApp,
  USER,
} from "./managed_app.ts";
import type { Registry } from "./registry.ts";

/** Who asks. */
export interface Asking {
  /** The user, unless it is named. */
  readonly by?: string | undefined;
}

export interface RollingOptions
  extends Omit<Batches, "signal">, Asking, Pick<UpOptions, "askedIn"> {}

export interface ChangeOptions extends RollingOptions {
  /** Undefined: the same configuration again. */
  readonly config?: ProcessConfig | undefined;
  /** Replace these instances, even if nothing has changed. */
  readonly replaced?: readonly ManagedProcess[];
  /** What changes for them besides the configuration. */
  readonly changes?: readonly FieldChange[];
  /** More instances, which are added once it is done. */
  readonly more?: Growth | undefined;
  /** Whether it waits for its turn; see `ManagedApp.hold()`. */
  readonly isHeld?: boolean;
}

export interface ReconfigureOptions extends RollingOptions {
  /** Keys in wire form. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** True: other keys get their defaults. False: the keys are a merge patch. */
  readonly replace?: boolean;
}

/** `waitReady`: default `wait`, else whether an app has several instances. */
export type ReloadOptions = RollingOptions & Pick<UpOptions, "wait">;

export interface ReloadResult {
  readonly outcomes: readonly Outcome[];
  readonly rolledBack: boolean;
}

/** Changes an app; see `ManagedApp.change()`. Throws `bad_request` for an invalid batch size. */
export async function change(
  app: ManagedApp,
  options: ChangeOptions,
): Promise<ChangeResult> {
  const { config, replaced = [], changes = [], more, by = USER, askedIn, isHeld } = options;
  return await app.change({
    ...{ config, replaced, changes, more, by, askedIn, isHeld },
    batch: batchCount(options.batchSize ?? 1, app.staying.length),
    waitReady: options.waitReady ?? true,
    rollback: options.rollbackOnFailure ?? false,
  });
}

/**
 * Reloads processes: apps batch by batch, so that the other instances serve meanwhile, and instances
 * that are named alone, each by itself. After a failure the rest of an app stays unchanged.
 */
export async function reloadAll(
  registry: Registry,
  processes: readonly ManagedProcess[],
  options: ReloadOptions,
): Promise<ReloadResult> {
  const { wait, batchSize = 1 } = options;
  batchCount(batchSize, processes.length);
  const byApp = Map.groupBy(processes, (process) => registry.directory.appOf(process));
  // One record: a daemon that is killed meanwhile reloads all of them.
  const begun = registry.recorder.together(() =>
    [...byApp].map(([app, instances]) => {
      if (instances.length < app.staying.length) return reloadEach(instances, options);
      const waitReady = options.waitReady ?? wait ?? instances.length > 1;
      return change(app, {
        ...options,
        ...{ waitReady, batchSize: fitting(batchSize, instances.length), replaced: app.staying },
      });
    })
  );
  const results = await Promise.all(begun);
  return {
    outcomes: results.flatMap(({ outcomes }) => outcomes),
    rolledBack: results.some(({ rolledBack }) => rolledBack),
  };
}

/** Reloads some instances of an app, which stays as it is. */
async function reloadEach(
  instances: readonly ManagedProcess[],
  { waitReady, wait = waitReady, askedIn }: ReloadOptions,
): Promise<ReloadResult> {
  const reload = (process: ManagedProcess) => process.reload({ wait, askedIn });
  return { outcomes: await runBulk(instances, reload, false), rolledBack: false };
}

/** A batch of all processes may be more than an app has. */
function fitting(batchSize: number | string, instances: number): number | string {
  return Number(batchSize) > instances ? instances : batchSize;
}

/** `"25%"` of 10 → 3: at least one, at most all. Throws `bad_request` with the value. */
export function batchCount(batchSize: number | string, instances: number): number {
  const most = Math.max(1, instances);
  const percent = /^(\d+)%$/.exec(String(batchSize))?.[1];
  const wanted = percent === undefined
    ? Number(batchSize)
    : Math.ceil(Number(percent) / 100 * most);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= most) return wanted;
  throw new ProcsupError(
    "bad_request",
    `Invalid "batch_size" ${JSON.stringify(batchSize)}: expected a number from 1 to ${most}, ` +
      'or a part such as "25%"',
  );
}

/**
 * The app that a change is for. Throws `bad_request` if the processes are not all instances of one
 * app: a configuration belongs to an app.
 */
export function appOfAll(registry: Registry, processes: readonly ManagedProcess[]): ManagedApp {
  const apps = [...new Set(processes.map((process) => registry.directory.appOf(process)))];
  const [app] = apps;
  if (apps.length > 1) {
    const quoted = apps.map(({ name }) => `"${name}"`).join(", ");
    throw new ProcsupError("bad_request", `Cannot give one configuration to ${quoted}`);
  }
  const { staying } = app!;
  if (processes.length < staying.length) {
    const what = `"${processes[0]!.name}" is one of ${staying.length} instances`;
    throw new ProcsupError("bad_request", `${what}: their configuration is that of the app`, {
      hint: `Give it to "${app!.name}"`,
    });
  }
  return app!;
}

/**
 * The changed configuration of an app, in wire form. Throws `invalid_config` if a key cannot be
 * changed.
 */
export function changedConfig(
  before: ProcessConfig,
  { keys: given, replace = false }: Pick<ReconfigureOptions, "keys" | "replace">,
): Record<string, unknown> {
  const current = wireKeys(before);
  const keys = unmasked(given, current);
  for (const [key, why] of Object.entries(FIXED)) {
    const value = keys[key];
    if (value === undefined || value === before[key as keyof typeof FIXED]) continue;
    throw new ProcsupError("invalid_config", `Invalid "${key}": ${why}`);
  }
  const { name, instances } = before;
  return replace
    ? mergePatch({}, { ...keys, name, instances })
    : mergePatch(keptUnder(keys, current), expanded(keys));
}

const FIXED = {
  name: "a process cannot be renamed",
  instances: "scale changes how many there are",
} as const;

/**
 * Scales the app of that name to `4`, by `+2` or by `-1`. Removes the instances with the highest
 * indexes. Throws `process_not_found`, or `bad_request` with the number.
 */
export async function scale(
  registry: Registry,
  name: string,
  change: string | number,
  { by, ...options }: UpOptions & Asking = {},
): Promise<Outcome[]> {
  const app = registry.directory.app(name);
  if (app === undefined) throw notFound(name, registry.directory.apps());
  if (app.staying.length === 0) throw beingDeleted(name);
  const count = scaledCount(change, app.wanted.instances);
  refuseOneForMany({ ...app.wanted, instances: count });
  return await app.resize(count, by, options);
}

/** `4`, `"4"`, `"+2"` or `"-1"` applied to a count. Throws `bad_request`. */
export function scaledCount(change: string | number, now: number): number {
  const text = String(change).trim();
  const count = /^[+-]\d+$/.test(text)
    ? now + Number(text)
    : /^\d+$/.test(text)
    ? Number(text)
    : NaN;
  if (count >= 1 && count <= MAX_INSTANCES) return count;
  throw new ProcsupError(
    "bad_request",
    `Cannot scale to ${JSON.stringify(change)}: expected N, +N or -N ` +
      `for 1 to ${MAX_INSTANCES} instances (now: ${now})`,
  );
}
