/** Whether a process is healthy, by the answers of its checks. Pure. */

import type { HealthCheckConfig } from "./process_config.ts";

/** What the checks say of a process; `unknown` before they agree, and without checks. */
export type Health = "unknown" | "healthy" | "unhealthy";

/** What is remembered between checks. */
export interface HealthRecord {
  readonly health: Health;
  /** Failures in a row. */
  readonly failures: number;
  /** Successes in a row. */
  readonly successes: number;
}

/** Before the first check. */
export const UNKNOWN_HEALTH: HealthRecord = { health: "unknown", failures: 0, successes: 0 };

type Thresholds = Pick<HealthCheckConfig, "retries" | "successThreshold" | "gracePeriodMs">;

/** The record after one more check, made that long after the start. */
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
