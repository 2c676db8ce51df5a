/** Decides whether a process is healthy from the results of its checks. Pure. */

import type { HealthCheckConfig } from "./process_config.ts";

/** `unknown` without checks, and until enough checks in a row succeed or fail. */
export type Health = "unknown" | "healthy" | "unhealthy";

/** State kept between checks. */
export interface HealthRecord {
  readonly health: Health;
  /** Consecutive failures. */
  readonly failures: number;
  /** Consecutive successes. */
  readonly successes: number;
}

export const UNKNOWN_HEALTH: HealthRecord = { health: "unknown", failures: 0, successes: 0 };

type Thresholds = Pick<HealthCheckConfig, "retries" | "successThreshold" | "gracePeriodMs">;

/** Returns the record after one more check, made `upForMs` after the start. */
export function judge(
  record: HealthRecord,
  ok: boolean,
  upForMs: number,
  config: Thresholds,
): HealthRecord {
  if (ok) {
    const successes = record.successes + 1;
    const health = successes >= config.successThreshold ? "healthy" : record.health;
    return { health, failures: 0, successes };
  }
  if (upForMs < config.gracePeriodMs) return { ...record, successes: 0 };
  const failures = record.failures + 1;
  const health = failures >= config.retries ? "unhealthy" : record.health;
  return { health, failures, successes: 0 };
}
