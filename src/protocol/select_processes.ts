/** Matches targets against a list from the daemon. */

import { hasCode } from "../model/errors.ts";
import { type Addressable, resolveTarget } from "../model/target.ts";
import type { ProcessJson } from "./wire.ts";

/**
 * The processes that match any of the targets, each once, in list order; all of them without targets.
 * Throws `process_not_found` and `ambiguous_target` like the daemon.
 */
export function selectProcesses(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): readonly ProcessJson[] {
  if (targets.length === 0) return processes;
  const all = processes.map(addressable);
  const found = new Set(
    targets.flatMap((target) => resolveTarget(target, all)).map(({ process }) => process),
  );
  return processes.filter((process) => found.has(process));
}

/**
 * Like `selectProcesses()`, but ignores targets that match nothing at present: a list that is watched
 * may get such a process later. Throws `ambiguous_target`.
 */
export function selectPresent(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): readonly ProcessJson[] {
  if (targets.length === 0) return processes;
  const found = new Set(targets.flatMap((target) => present(processes, target)));
  return processes.filter((process) => found.has(process));
}

function present(processes: readonly ProcessJson[], target: string): readonly ProcessJson[] {
  try {
    return selectProcesses(processes, [target]);
  } catch (error) {
    if (hasCode(error, "process_not_found")) return [];
    throw error;
  }
}

function addressable(process: ProcessJson): Addressable & { readonly process: ProcessJson } {
  const { id, numeric_id, name, namespace, tags, config } = process;
  const labels = (config.labels ?? {}) as Readonly<Record<string, string>>;
  return { id, numericId: numeric_id, name, namespace, tags, labels, process };
}

/**
 * The answer about a target. If it matches several processes (instances of an app, a namespace, a
 * tag), requests the list and returns one answer for each. Throws other errors of `ask`.
 */
export async function askEachMatch<T>(
  target: string,
  ask: (target: string) => Promise<T>,
  list: () => Promise<readonly ProcessJson[]>,
): Promise<T[]> {
  try {
    return [await ask(target)];
  } catch (error) {
    if (!hasCode(error, "ambiguous_target")) throw error;
    const found = selectProcesses(await list(), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}
