/** The monitors of a run, started and stopped with it. */

import { formatDuration } from "../model/duration.ts";
import type { HealthRecord } from "../model/health.ts";
import { formatSize, humanBytes } from "../model/size.ts";
import { wantsReadiness } from "../model/transition_steps.ts";
import type { Monitor, RunView } from "./run_view.ts";
import { HealthMonitor } from "./health_monitor.ts";
import { sharedSockets } from "./launch_setup.ts";
import { NotifyMonitor } from "./notify_monitor.ts";
import { awaitReadiness } from "./readiness.ts";

/**
 * Starts each monitor that the configuration of a run asks for, also for a run that an earlier
 * daemon launched.
 */
export const MONITORS: Readonly<Record<string, (process: RunView) => Monitor | undefined>> = {
  readiness: (process) => {
    const isAwaited = !process.isReady && wantsReadiness(process.config);
    return isAwaited ? awaitReadiness(process) : undefined;
  },
  healthCheck: (process) => {
    const { healthCheck } = process.config;
    return healthCheck && new HealthMonitor(process, healthCheck);
  },
  notify: (process) => {
    const notices = process.world.notices(process.run);
    return notices && new NotifyMonitor(process, notices);
  },
  idle: (process) => {
    const { idleTimeoutMs } = process.config;
    return idleTimeoutMs === undefined ? undefined : limitIdleness(process, idleTimeoutMs);
  },
  maxAge: (process) => {
    const { maxAgeMs } = process.config;
    return maxAgeMs === undefined ? undefined : limitAge(process, maxAgeMs);
  },
  maxMemory: (process) => {
    const { maxMemoryBytes } = process.config;
    return maxMemoryBytes === undefined ? undefined : limitMemory(process, maxMemoryBytes);
  },
};

export class RunMonitors implements Monitor {
  readonly #monitors: readonly Monitor[];

  constructor(process: RunView) {
    this.#monitors = Object.values(MONITORS).flatMap((begin) => begin(process) ?? []);
  }

  /** Of its health checks; undefined without any. */
  get record(): HealthRecord | undefined {
    return this.#monitors.find((monitor) => monitor instanceof HealthMonitor)?.record;
  }

  stop(): void {
    for (const monitor of this.#monitors) monitor.stop();
  }
}

function limitAge(process: RunView, maxAgeMs: number): Monitor {
  const { attempt, world } = process;
  const left = Math.max(0, maxAgeMs - process.uptimeMs);
  const stop = world.clock.after(
    left,
    () =>
      process.post({
        ...{ type: "recycle_requested", attempt, reason: "reached its max_age", cause: "age" },
      }),
  );
  return { stop };
}

const MOST_IDLE_LOOK_MS = 5000;

/** Connections of all instances count, as they share the sockets. */
function limitIdleness(process: RunView, idleMs: number): Monitor {
  const { attempt, config, world } = process;
  const { clock } = world;
  const sockets = sharedSockets(config);
  let usedAt = clock.steady();
  let stop = () => {};
  const look = () => {
    const isKnown = process.isReady && sockets !== undefined;
    usedAt = Math.max(usedAt, clock.steady() - (isKnown ? world.unusedForMs(sockets) : 0));
    if (clock.steady() - usedAt >= idleMs) {
      const reason = `no connection for ${formatDuration(idleMs)}`;
      process.post({ type: "idle", attempt, reason });
    }
    stop = clock.after(Math.min(idleMs / 10, MOST_IDLE_LOOK_MS), look);
  };
  look();
  return { stop: () => stop() };
}

/** The whole tree counts. An app that is not ready yet is left alone. */
function limitMemory(process: RunView, limit: number): Monitor {
  const { attempt, run, world } = process;
  const stop = world.limitMemory(run, limit, (bytes) => {
    if (!process.isReady) return;
    const used = humanBytes(bytes, Infinity);
    const reason = `memory ${used}, more than its max_memory of ${formatSize(limit)}`;
    process.post({ type: "recycle_requested", attempt, reason, cause: "memory" });
  });
  return { stop };
}
