/** Computes the order in which processes start, from their dependencies. Pure. */

import { ProcsupError } from "./errors.ts";
import type { DependencyCondition, ProcessConfig } from "./process_config.ts";

export interface Ordered {
  /** Name in the configuration, as in `dependsOn`. */
  readonly name: string;
  readonly dependsOn: readonly string[];
  /** Lower starts first among processes that could start together. */
  readonly priority: number;
}

/**
 * Groups processes into waves; each depends only on earlier waves. Dependencies outside the list
 * count as met. Throws `invalid_config` naming a cycle.
 */
export function startWaves<P>(processes: readonly P[], describe: (process: P) => Ordered): P[][] {
  const nodes = processes.map((process) => ({ process, ...describe(process) }));
  const names = new Set(nodes.map(({ name }) => name));
  const placed = new Set<string>();
  const waves: P[][] = [];
  let left = nodes;
  while (left.length > 0) {
    const free = left.filter(({ dependsOn }) =>
      dependsOn.every((name) => placed.has(name) || !names.has(name))
    );
    if (free.length === 0) throw cycleError(left);
    // Processes of the lowest priority start together; the others wait for a later wave.
    const first = Math.min(...free.map(({ priority }) => priority));
    const wave = free.filter(({ priority }) => priority === first);
    waves.push(wave.map(({ process }) => process));
    const now = new Set(wave);
    left = left.filter((node) => !now.has(node));
    for (const { name } of wave) {
      if (!left.some((node) => node.name === name)) placed.add(name);
    }
  }
  return waves;
}

function cycleError(nodes: readonly Ordered[]): ProcsupError {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const path: string[] = [];
  let at = nodes[0]!;
  while (!path.includes(at.name)) {
    path.push(at.name);
    at = byName.get(at.dependsOn.find((name) => byName.has(name))!)!;
  }
  const cycle = [...path.slice(path.indexOf(at.name)), at.name];
  return new ProcsupError("invalid_config", `Dependencies form a cycle: ${cycle.join(" → ")}`);
}

/** Why a condition on a dependency can never be met; undefined if it can. */
export function conditionProblem(
  condition: DependencyCondition,
  { name, healthCheck, restartPolicy }: Pick<
    ProcessConfig,
    "name" | "healthCheck" | "restartPolicy"
  >,
): string | undefined {
  if (condition === "healthy" && healthCheck === undefined) {
    return `"${name}" has no health_check, so it is never ${condition}`;
  }
  if (condition.startsWith("completed") && restartPolicy === "always") {
    return `"${name}" has restart_policy always, so it is never ${condition}`;
  }
  return undefined;
}

/**
 * Throws `invalid_config` for a dependency whose condition can never be met; given a name, only for
 * those of this process and for those on it.
 */
export function refuseNeverMet(configs: readonly ProcessConfig[], about?: string): void {
  const byName = new Map(configs.map((config) => [config.name, config]));
  for (const { name, dependsOn } of configs) {
    for (const [dependency, condition] of Object.entries(dependsOn)) {
      const other = byName.get(dependency);
      if (other === undefined || (about ?? name) !== name && about !== dependency) continue;
      const problem = conditionProblem(condition, other);
      if (problem === undefined) continue;
      throw new ProcsupError("invalid_config", `Invalid "depends_on" of "${name}": ${problem}`);
    }
  }
}
