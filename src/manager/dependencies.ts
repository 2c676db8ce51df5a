/** Waits for the dependencies of a process. The wait also ends when a dependency fails. */

import { AT_REST, isSuccess, wantsReadiness } from "../model/transition_steps.ts";
import type { DependencyCondition, ProcessConfig } from "../model/process_config.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import type { DesiredState } from "../model/process_state.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/**
 * Starts the dependencies that are down, or on their way, and resolves when each meets its
 * condition. Throws the reason if one can no longer meet it. An instance that is being deleted is
 * not waited for.
 */
export async function awaitDependencies(
  list: () => readonly ManagedProcess[],
  process: ManagedProcess,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const awaited = new Set<ManagedProcess>();
  /** The instances that have not been awaited yet: some may have come meanwhile. */
  const next = () =>
    Object.entries(process.config.dependsOn).flatMap(([name, condition]) => {
      const instances = list().filter((other) => other.config.name === name && !other.isLeaving);
      if (instances.length === 0) throw new Error(`depends on "${name}", which does not exist`);
      return instances.filter((dependency) => !awaited.has(dependency))
        .map((dependency) => ({ dependency, condition }));
    });
  try {
    for (let wanted = next(); wanted.length > 0; wanted = next()) {
      for (const { dependency } of wanted) awaited.add(dependency);
      await Promise.all(
        wanted.map(({ dependency, condition }) => awaitOne(dependency, condition, either)),
      );
    }
  } finally {
    failed.abort();
  }
}

/** Whether another process depends on the end of the process of that name. */
export function isAwaitedToEnd(name: string, others: Iterable<ProcessConfig>): boolean {
  return [...others].some(({ dependsOn }) => awaitsEnd(dependsOn[name]));
}

function awaitsEnd(condition: DependencyCondition | undefined): boolean {
  return condition === "completed" || condition === "completed_ok";
}

async function awaitOne(
  dependency: ManagedProcess,
  condition: DependencyCondition,
  signal: AbortSignal,
): Promise<void> {
  // Its sockets are open, and a connection to them starts it.
  const isServing = () => dependency.snapshot.awaiting === "connection" && !awaitsEnd(condition);
  const met = () =>
    isServing() || CONDITIONS[condition](dependency.info(), dependency.snapshot.desired);
  const { state, desired } = dependency.snapshot;
  if (!met() && desired === "down" && (AT_REST.has(state) || state === "stopping")) {
    void dependency.start().catch(() => {});
  }
  await dependency.until(
    () => met() || dependency.isLeaving || AT_REST.has(dependency.snapshot.state),
    signal,
  );
  if (met() || dependency.isLeaving) return;
  const info = dependency.info();
  throw new Error(
    `depends on "${info.name}", which is ${info.state}${
      info.lastReason ? `: ${info.lastReason}` : ""
    }`,
  );
}

type Condition = (info: ProcessInfo, desired: DesiredState) => boolean;

const CONDITIONS: Readonly<Record<DependencyCondition, Condition>> = {
  started: (info, desired) => info.pid > 0 || completed(info, desired),
  ready: (info, desired) =>
    (info.state === "running" && info.ready) || hasDoneItsWork(info, desired),
  healthy: (info) => info.state === "running" && info.health === "healthy",
  completed,
  completed_ok: (info, desired) =>
    completed(info, desired) && isSuccess(info.lastExit, info.config),
};

/** True if it has ended by itself. The run of a process that was stopped since does not count. */
function completed(info: ProcessInfo, desired: DesiredState): boolean {
  return desired === "up" && (info.state === "stopped" || info.state === "crashed") &&
    info.lastExit !== null;
}

/**
 * True if it exited by itself with success, and its desired state is still up. It counts as ready,
 * even if it was never seen running.
 */
function hasDoneItsWork(info: ProcessInfo, desired: DesiredState): boolean {
  return CONDITIONS.completed_ok(info, desired) && info.state === "stopped" &&
    !wantsReadiness(info.config);
}
