/** Targets, compared here with a list that came from the daemon. Pure. */

import { ProcsupError } from "../model/errors.ts";
import { type Addressable, resolveTarget } from "../model/target.ts";
import type { ProcessJson } from "./wire.ts";

/**
 * The processes that any of the targets addresses, each once, in the order of the list; all of them
 * without a target. Throws `process_not_found` and `ambiguous_target`, as the daemon would.
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
 * The same, less the targets that address nothing now: who watches a list waits for an app that
 * comes, or comes back. Throws `ambiguous_target`.
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
    if (error instanceof ProcsupError && error.code === "process_not_found") return [];
    throw error;
  }
}

function addressable(process: ProcessJson): Addressable & { readonly process: ProcessJson } {
  const { id, numeric_id, name, namespace, tags, config } = process;
  const labels = (config.labels ?? {}) as Readonly<Record<string, string>>;
  return { id, numericId: numeric_id, name, namespace, tags, labels, process };
}
