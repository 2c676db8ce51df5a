/** Everything that goes along with a run, begun and ended with it. */

import { UNKNOWN_HEALTH } from "../model/health.ts";
import { wantsReadiness } from "../model/outcomes.ts";
import { dirname } from "../platform/paths.ts";
import type { Attendant, Attended } from "./attended.ts";
import { watchFiles } from "./watch/file_watch.ts";
import { HealthMonitor } from "./health_monitor.ts";
import { awaitReadiness } from "./readiness.ts";

/** The attendants of one run. */
export class Attendance implements Attendant {
  readonly #attendants: Attendant[] = [];
  readonly #health: HealthMonitor | undefined;

  constructor(process: Attended) {
    const { config, snapshot } = process;
    if (!snapshot.ready && wantsReadiness(config)) this.#attendants.push(awaitReadiness(process));
    if (config.healthCheck !== undefined) {
      this.#health = new HealthMonitor(process, config.healthCheck);
      this.#attendants.push(this.#health);
    }
    if (config.watch?.enabled) this.#attendants.push(watchSources(process));
    if (config.maxAgeMs !== undefined) this.#attendants.push(limitAge(process, config.maxAgeMs));
  }

  /** What the health checks say. */
  get health(): "unknown" | "healthy" | "unhealthy" {
    return (this.#health?.record ?? UNKNOWN_HEALTH).health;
  }

  stop(): void {
    for (const attendant of this.#attendants) attendant.stop();
  }
}

function watchSources(process: Attended): Attendant {
  const { config, world, watchGuard } = process;
  return watchFiles({
    cwd: config.cwd,
    ...config.watch!,
    own: [dirname(world.apps)],
    guard: watchGuard,
    upForMs: () => process.uptimeMs,
  }, {
    changed: (path) => process.restart(`file changed: ${path}`),
    problem: (message) => process.note(message),
  });
}

function limitAge(process: Attended, maxAgeMs: number): Attendant {
  const { attempt, world } = process;
  const left = Math.max(0, maxAgeMs - process.uptimeMs);
  const stop = world.clock.after(
    left,
    () => process.post({ type: "recycle_requested", attempt, reason: "reached its max_age" }),
  );
  return { stop };
}
