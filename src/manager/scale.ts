/** Changes the number of instances of a process. */

import { MAX_INSTANCES } from "../model/process_keys.ts";
import { ProcsupError } from "../model/errors.ts";
import { notFound } from "../model/target.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { UpOptions } from "../process/process_handle.ts";
import { isJob, type Outcome, runBulk } from "./bulk.ts";
import { refuseOneForMany } from "./check_config.ts";
import { beingDeleted, type Registry } from "./registry.ts";

/**
 * Scales the process of that name in the configuration to `4`, by `+2` or by `-1`. Removes the
 * instances with the highest indexes. Throws `process_not_found`, or `bad_request` with the number.
 */
export async function scale(
  registry: Registry,
  name: string,
  change: string | number,
  options: UpOptions = {},
): Promise<Outcome[]> {
  // Starts take no turn: a start may wait for a dependency without a time limit.
  const { stopped, added } = await registry.sizes.take(() => resize(registry, name, change), name);
  const start = async (process: ManagedProcess) => isJob(process) || await process.start(options);
  return [...stopped, ...await runBulk(added, start)];
}

/** Removes and registers instances. Their number must not change meanwhile. */
async function resize(
  registry: Registry,
  name: string,
  change: string | number,
): Promise<{ readonly stopped: Outcome[]; readonly added: ManagedProcess[] }> {
  if (registry.instancesOf(name).length === 0) {
    throw notFound(name, registry.list().map(({ config }) => ({ name: config.name })));
  }
  const instances = staying(registry, name);
  const count = scaledCount(change, instances.length);
  refuseOneForMany({ ...instances[0]!.config, instances: count });
  const byIndex = [...instances].sort((a, b) => a.instanceIndex - b.instanceIndex);
  const added: ManagedProcess[] = [];
  const fill = () =>
    registry.recorder.together(() => {
      const left = staying(registry, name);
      for (const process of left) process.recount(count);
      // Its configuration may have been changed meanwhile.
      const { config } = left[0]!;
      const indexes = freeIndexes(registry.instancesOf(name), count - left.length);
      added.push(...registry.addInstances(config, indexes));
    });
  if (count > 1 && byIndex[0]!.name === name) {
    await registry.rename(byIndex[0]!, `${name}:0`, fill);
    return { stopped: [], added };
  }
  const surplus = byIndex.slice(count);
  registry.recorder.together(() => {
    registry.leave(surplus);
    for (const process of byIndex.slice(0, count)) process.recount(count);
  });
  const stopped = await runBulk(
    surplus,
    (process) => registry.retire(process, { reason: "scaled down" }),
  );
  // Some may have been deleted meanwhile, and some may have survived.
  fill();
  return { stopped, added };
}

/** The instances that are not being deleted. Throws `wrong_state` if all are. */
function staying(registry: Registry, name: string): ManagedProcess[] {
  const instances = registry.instancesOf(name).filter(({ isLeaving }) => !isLeaving);
  if (instances.length > 0) return instances;
  throw beingDeleted(name);
}

/** The lowest free indexes. */
function freeIndexes(instances: readonly ManagedProcess[], count: number): number[] {
  const taken = new Set(instances.map(({ instanceIndex }) => instanceIndex));
  const free: number[] = [];
  for (let index = 0; free.length < count; index++) {
    if (!taken.has(index)) free.push(index);
  }
  return free;
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
