/** Waits until a run is ready: by a line of its output, by a delay, or by its ready file. */

import { formatDuration } from "../model/duration.ts";
import { isReadyByHealth } from "../model/transition_steps.ts";
import type { Cancel } from "../platform/clock.ts";
import type { Monitor, MonitoredRun } from "./monitor.ts";
import { LineWatch } from "./line_watch.ts";

/** Interval in which an overdue timeout waits for the first look at an adopted run. */
const FIRST_LOOK_MS = 100;

/** Waits for readiness; posts `became_ready` or, at the timeout, `ready_timed_out`. */
export function awaitReadiness(process: MonitoredRun): Monitor {
  const { attempt, config, world } = process;
  const ready = () => {
    stop();
    process.post({ type: "became_ready", attempt });
  };
  const cancels: Cancel[] = [];
  const stop = () => cancels.forEach((cancel) => cancel());
  let hasLooked = () => true;
  const begun = world.clock.steady();
  const late = () => {
    // It may have become ready while no daemon looked. A look may hang, or lack resources.
    const isOver = world.clock.steady() - begun >= config.listenTimeoutMs;
    if (process.isAdopted && !hasLooked() && !isOver) {
      cancels.push(world.clock.after(FIRST_LOOK_MS, late));
      return;
    }
    stop();
    const limit = formatDuration(config.listenTimeoutMs);
    const { at = 0, problem = "" } = process.journal.checks.at(-1) ?? {};
    const isOurs = at >= world.clock.now() - process.uptimeMs;
    const why = isOurs && problem !== "" && isReadyByHealth(config) ? `: ${problem}` : "";
    const reason = `not ready within ${limit}: waited for ${readySign(config)}${why}`;
    process.post({ type: "ready_timed_out", attempt, reason });
  };
  const left = (ms: number) => Math.max(0, ms - process.uptimeMs);
  if (config.readyDelayMs !== undefined) {
    cancels.push(world.clock.after(left(config.readyDelayMs), ready));
    return { stop };
  }
  cancels.push(world.clock.after(left(config.listenTimeoutMs), late));
  if (config.readyLog !== undefined) {
    const watch = new LineWatch(process, config.readyLog, ready);
    cancels.push(() => watch.stop());
    hasLooked = () => watch.hasLooked;
  } else if (config.healthCheck === undefined) {
    cancels.push(world.whenReady(process.run.runId, ready));
  } else {
    // The first successful health check makes it ready.
    hasLooked = () => process.journal.checks.length > 0;
  }
  return { stop };
}

/** What makes a run ready, in words. */
export function readySign({ readyLog, readyDelayMs, healthCheck }: MonitoredRun["config"]): string {
  if (readyDelayMs !== undefined) return `its ready_delay of ${formatDuration(readyDelayMs)}`;
  if (readyLog !== undefined) return `a line of output that matches ${JSON.stringify(readyLog)}`;
  if (healthCheck !== undefined) return `its ${healthCheck.type} health check`;
  return "READY=1 in $PROCSUP_READY_FILE";
}
