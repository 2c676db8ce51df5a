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
  /** Uptime in milliseconds at the first of these successes. */
  readonly goodSince?: number;
  /** Uptime in milliseconds at the last failure that counted. */
  readonly failedAt?: number;
  /** A check is in progress, or is made again because it did not meet the run: it may change this. */
  readonly isChecking?: boolean;
}

/** Delays of the first checks after a start; then the interval. */
const EARLY_DELAYS_MS = [200, 500, 1000, 2000, 5000, 10_000, 20_000];

/** Milliseconds between one of the checks since a start, counted from 0, and the next. */
export function delayAfter(check: number, { intervalMs }: Thresholds): number {
  return Math.min(EARLY_DELAYS_MS[check] ?? intervalMs, intervalMs);
}

export const UNKNOWN_HEALTH: HealthRecord = { health: "unknown", failures: 0, successes: 0 };

type Thresholds = Pick<
  HealthCheckConfig,
  "retries" | "successThreshold" | "gracePeriodMs" | "intervalMs"
>;

/**
 * Returns the record after one more check, made `upForMs` after the start. Failures count once per
 * interval: checks are more frequent after a start, and an app may take its time then.
 */
export function judge(
  record: HealthRecord,
  ok: boolean,
  upForMs: number,
  config: Thresholds,
): HealthRecord {
  if (ok) {
    const successes = record.successes + 1;
    const health = successes >= config.successThreshold ? "healthy" : record.health;
    return { health, failures: 0, successes, goodSince: record.goodSince ?? upForMs };
  }
  const { failures, failedAt, health } = record;
  const isEarly = failedAt !== undefined && upForMs - failedAt < config.intervalMs;
  if (upForMs < config.gracePeriodMs || isEarly) {
    return { health, failures, successes: 0, ...failedAt !== undefined && { failedAt } };
  }
  return {
    health: failures + 1 >= config.retries ? "unhealthy" : health,
    ...{ failures: failures + 1, successes: 0, failedAt: upForMs },
  };
}
