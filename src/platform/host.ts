/** Metrics of the machine, and space on its file systems. */

import { isLinux } from "./os.ts";
import { readProc } from "./scan/process_table.ts";

interface CpuTimes {
  readonly busy: number;
  readonly total: number;
}

/** Reads the metrics; keeps the CPU times for the next reading. */
export class HostMeter {
  #before: CpuTimes = { busy: 0, total: 0 };
  #percent = 0;

  /** Current values. Memory in bytes; CPU in percent of all cores since the previous reading. */
  read() {
    const memory = Deno.systemMemoryInfo();
    const [load1, load5, load15] = Deno.loadavg() as [number, number, number];
    return {
      total_memory: memory.total,
      used_memory: memory.total - memory.available,
      free_memory: memory.free,
      available_memory: memory.available,
      swap_total: memory.swapTotal,
      swap_used: memory.swapTotal - memory.swapFree,
      cpu_count: navigator.hardwareConcurrency,
      cpu_percent: this.#cpuPercent(),
      cpu_load_1: round(load1, 2),
      cpu_load_5: round(load5, 2),
      cpu_load_15: round(load15, 2),
      uptime_seconds: Math.floor(Deno.osUptime()),
      hostname: Deno.hostname(),
      platform: Deno.build.os as string,
      arch: Deno.build.arch as string,
    };
  }

  #cpuPercent(): number {
    const now = cpuTimes();
    const elapsed = now.total - this.#before.total;
    // Within one tick of the kernel there is no difference.
    if (elapsed > 0) this.#percent = round((now.busy - this.#before.busy) / elapsed * 100, 1);
    this.#before = now;
    return this.#percent;
  }
}

/** CPU times since the boot; estimated from the load without /proc. */
function cpuTimes(): CpuTimes {
  if (!isLinux) {
    const total = Deno.osUptime();
    return { busy: total * Math.min(1, Deno.loadavg()[0]! / navigator.hardwareConcurrency), total };
  }
  const line = (readProc("/proc/stat") ?? "").split("\n", 1)[0]!;
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, soft = 0, steal = 0] = line
    .trim().split(/\s+/).slice(1).map(Number);
  const busy = user + nice + system + irq + soft + steal;
  return { busy, total: busy + idle + iowait };
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** Space in bytes. */
export interface DiskSpace {
  readonly total: number;
  /** Free for ordinary users. */
  readonly available: number;
}

/** The file system that a path is on; zeros if unknown. */
export async function diskOf(path: string): Promise<DiskSpace> {
  // Deno has no such function, and the module is too large to load unless needed.
  const { statfsSync } = await import("node:fs");
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    return { total: bsize * blocks, available: bsize * bavail };
  } catch {
    return { total: 0, available: 0 };
  }
}
