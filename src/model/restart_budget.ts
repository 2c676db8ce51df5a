/**
 * How often and how soon a process that ended by itself is restarted. Distinguishes an app that
 * changes its own watched files at every start from a person's edits.
 */

import type { ProcessConfig } from "./process_config.ts";

type DelayPolicy = Pick<ProcessConfig, "restartDelayMs" | "backoffMaxMs">;
type BudgetPolicy = Pick<ProcessConfig, "maxRestarts" | "restartWindowMs">;

/** Share of a delay that is random, so that many processes do not restart in step. */
const JITTER = 0.2;

/**
 * Milliseconds until the next start after `consecutiveFailures` failures: the configured delay,
 * doubled with each failure, up to the maximum, less up to a fifth. `random` is in [0, 1).
 */
export function restartDelay(
  policy: DelayPolicy,
  consecutiveFailures: number,
  random: number,
): number {
  const doubled = policy.restartDelayMs * 2 ** Math.min(consecutiveFailures, 30);
  return Math.round(Math.min(doubled, longestDelay(policy)) * (1 - JITTER * random));
}

/** Longest possible delay, in milliseconds. */
export function longestDelay({ backoffMaxMs, restartDelayMs }: DelayPolicy): number {
  return Math.max(backoffMaxMs, restartDelayMs);
}

/**
 * The restarts that still count. Times are in milliseconds of running: delays between starts do not
 * use up the window, so the limit is reached even with a long backoff.
 */
export function recentRestarts(
  policy: BudgetPolicy,
  restartsAt: readonly number[],
  totalUptimeMs: number,
): readonly number[] {
  return restartsAt.filter((at) =>
    at > totalUptimeMs - policy.restartWindowMs || at === totalUptimeMs
  );
}

/** Whether one more automatic restart is allowed. */
export function budgetLeft(policy: BudgetPolicy, recent: readonly number[]): boolean {
  return recent.length < policy.maxRestarts;
}

/** How long a run must last to reset the count of failures, in milliseconds. */
export function stableRunMs({ minUptimeMs }: Pick<ProcessConfig, "minUptimeMs">): number {
  return minUptimeMs * 10;
}

export function ranStably(policy: Pick<ProcessConfig, "minUptimeMs">, ranForMs: number): boolean {
  return ranForMs >= stableRunMs(policy);
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** The restarts of the last hour, including this minute. Times are monotonic milliseconds. */
export class RestartTally {
  readonly #counts = new Uint32Array(MINUTES);
  /** The minute of the last access. */
  #minute = 0;

  add(count: number, at: number): void {
    this.#moveTo(at);
    this.#counts[this.#minute % MINUTES]! += count;
  }

  lastHour(now: number): number {
    this.#moveTo(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Clears the slots of the minutes since the last access. */
  #moveTo(at: number): void {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute - this.#minute >= MINUTES) this.#counts.fill(0);
    else for (let m = this.#minute + 1; m <= minute; m++) this.#counts[m % MINUTES] = 0;
    this.#minute = Math.max(this.#minute, minute);
  }
}

/** Restarts, or other actions on changed files, in a row after which watching pauses. */
export const LOOP_RESTARTS = 10;

/** A change that comes later than this after a start or an action is not made by it. */
const SOON_MS = 3000;

/** Restarts longer ago than this do not count. */
const LOOP_WINDOW_MS = 120_000;

/** One restart, or other action, because of a change. */
export interface WatchRestart {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** How long the app had been up, or the last action over. */
  readonly upForMs: number;
}

/**
 * The times of the restarts in a row that each came soon after a start or an action, this one
 * included; a late one ends the row.
 */
export function withRestart(
  row: readonly number[],
  { at, upForMs }: WatchRestart,
): readonly number[] {
  if (upForMs > SOON_MS) return [];
  return [...row.filter((earlier) => at - earlier <= LOOP_WINDOW_MS), at];
}

/** Whether the last of these restarts must not happen, and watching pauses until the next start. */
export function isLoop(row: readonly number[]): boolean {
  return row.length > LOOP_RESTARTS;
}

/** The restarts in a row when the next run begins. */
export function rowAtStart(row: readonly number[]): readonly number[] {
  return isLoop(row) ? [] : row;
}
