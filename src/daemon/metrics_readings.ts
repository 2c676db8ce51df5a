/** Reads the resource usage of processes and the host for the metrics history. */

import type { Supervisor } from "../manager/supervisor.ts";
import { HostMeter } from "../platform/host.ts";
import type { CpuMark, TreeUsage } from "../platform/usage.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { HOST, type Reading } from "./metrics_history.ts";
import type { Sample } from "./metrics_ring.ts";

const HEALTH = { unknown: NaN, healthy: 1, unhealthy: 0 } as const;

/**
 * Returns a function that reads the figures of every process and of the host. CPU is the mean since its
 * previous call.
 */
export function metricsReader(
  { registry, usage }: Pick<Supervisor, "registry" | "usage">,
): () => Reading[] {
  const meter = new HostMeter();
  // A meter's first reading covers the time since boot.
  meter.read();
  /** CPU marks by wrapper pid, as of the previous call. */
  let marks: ReadonlyMap<number, CpuMark> = new Map();
  return () => {
    const next = new Map<number, CpuMark>();
    const processes = registry.list();
    const read = usage.read(processes);
    const readings = processes.map((process): Reading => {
      const [tree, root] = [read(process), process.snapshot.run?.wrapperPid ?? 0];
      if (tree !== undefined) next.set(root, tree.mark);
      return { name: process.name, sample: sampleOf(process, tree, marks.get(root)) };
    });
    marks = next;
    return [...readings, { name: HOST, sample: hostSample(meter) }];
  };
}

function sampleOf(
  process: ManagedProcess,
  tree: TreeUsage | undefined,
  before: CpuMark | undefined,
): Sample {
  const { pid, restarts, uptimeMs, health } = process.info();
  const isUp = pid !== 0;
  const cpu = cpuOf(tree, before);
  const { memBytes = NaN, threads = NaN, fds = NaN } = tree?.usage ?? {};
  return {
    ...{
      cpu,
      cpuMax: cpu,
      memory: memBytes,
      memoryMax: memBytes,
      threads,
      fds,
      load: NaN,
      restarts,
    },
    uptime: Math.floor(uptimeMs / 1000),
    up: isUp ? 1 : 0,
    health: isUp ? HEALTH[health] : NaN,
  };
}

function cpuOf(tree: TreeUsage | undefined, before: CpuMark | undefined): number {
  if (tree === undefined) return NaN;
  const elapsed = before === undefined ? 0 : tree.mark.at - before.at;
  if (elapsed <= 0) return tree.usage.cpuPercent;
  return Math.max(0, tree.mark.cpuMs - before!.cpuMs) / elapsed * 100;
}

function hostSample(meter: HostMeter): Sample {
  const { cpu_percent: cpu, used_memory: memory, cpu_load_1: load, uptime_seconds } = meter.read();
  return {
    ...{ cpu, cpuMax: cpu, memory, memoryMax: memory, threads: NaN, fds: NaN, load, restarts: 0 },
    ...{ uptime: uptime_seconds, up: 1, health: NaN },
  };
}
