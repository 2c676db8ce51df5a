/** How often and how soon a process that ended by itself is started again. */

import type { ProcessConfig } from "./process_config.ts";

type DelayPolicy = Pick<ProcessConfig, "restartDelayMs" | "backoffMaxMs">;
type BudgetPolicy = Pick<ProcessConfig, "maxRestarts" | "restartWindowMs">;

/** Part of a delay that is drawn by chance, so that many processes do not return in step. */
const JITTER = 0.2;

/**
 * Milliseconds until the next start after `streak` failures in a row: the configured delay, doubled
 * with each, up to the maximum, less up to a fifth. `random` is in [0, 1).
 */
export function restartDelay(policy: DelayPolicy, streak: number, random: number): number {
  const doubled = policy.restartDelayMs * 2 ** Math.min(streak, 30);
  return Math.round(Math.min(doubled, longestDelay(policy)) * (1 - JITTER * random));
}

/** The most that a delay can be, in milliseconds. */
export function longestDelay({ backoffMaxMs, restartDelayMs }: DelayPolicy): number {
  return Math.max(backoffMaxMs, restartDelayMs);
}

/**
 * The earlier restarts that still count. Both are on the axis of time the process spent running:
 * delays between starts do not use up the window, so a long backoff cannot keep the limit from
 * ever being reached.
 */
export function recentRestarts(
  policy: BudgetPolicy,
  restartsAt: readonly number[],
  ranMs: number,
): readonly number[] {
  return restartsAt.filter((at) => at > ranMs - policy.restartWindowMs || at === ranMs);
}

/** Whether one more automatic restart is allowed. */
export function budgetLeft(policy: BudgetPolicy, recent: readonly number[]): boolean {
  return recent.length < policy.maxRestarts;
}

/** How long a run must be to forget the failures before it, in milliseconds. */
export function stableRunMs({ minUptimeMs }: Pick<ProcessConfig, "minUptimeMs">): number {
  return minUptimeMs * 10;
}

/** Whether a run was that long. */
export function ranStably(policy: Pick<ProcessConfig, "minUptimeMs">, ranForMs: number): boolean {
  return ranForMs >= stableRunMs(policy);
}
