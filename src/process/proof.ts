/** When a run is proven: good for `min_uptime` by its own checks, or without checks, up for that long. */

import { formatDuration } from "../model/duration.ts";
import type { HealthRecord } from "../model/health.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Clock } from "../platform/clock.ts";

/** Interval in which the record of its checks is read. */
const LOOK_MS = 100;

interface ProvenRun {
  readonly config: Pick<ProcessConfig, "minUptimeMs" | "listenTimeoutMs" | "healthCheck">;
  readonly clock: Clock;
  uptimeMs(): number;
  record(): HealthRecord | undefined;
  /** What its last check found. */
  problem(): string;
}

/**
 * Call it when a run is ready. Resolves once it is proven, with the reason if it is not within
 * `listen_timeout`, and without a meaning when the signal aborts.
 */
export async function proof(run: ProvenRun, signal: AbortSignal): Promise<string | undefined> {
  const { config: { healthCheck, minUptimeMs, listenTimeoutMs } } = run;
  const readySince = run.uptimeMs();
  while (!signal.aborted) {
    const uptimeMs = run.uptimeMs();
    const record = healthCheck && run.record();
    const goodSince = healthCheck === undefined ? readySince : record?.goodSince;
    const rest = goodSince === undefined ? LOOK_MS : minUptimeMs - (uptimeMs - goodSince);
    const isDue = rest <= 0;
    // A check that is late may still fail.
    if (isDue && !record?.isChecking) return undefined;
    if (!isDue && uptimeMs - readySince > listenTimeoutMs + minUptimeMs) {
      const problem = run.problem();
      return `not healthy for ${formatDuration(minUptimeMs)} within ` +
        formatDuration(listenTimeoutMs) + (problem && `: ${problem}`);
    }
    const wait = healthCheck === undefined ? rest : isDue ? LOOK_MS : Math.min(rest, LOOK_MS);
    await pause(run, wait, signal);
  }
  return undefined;
}

async function pause({ clock }: ProvenRun, ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const cancel = clock.after(ms, over.resolve);
  signal.addEventListener("abort", () => over.resolve());
  await over.promise;
  cancel();
}
