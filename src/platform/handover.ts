/** A handover: one daemon takes over the home of another. Commands wait until it is over. */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { comesTrue } from "./clock.ts";
import { isFree, removeLock, takeLockSoon } from "./lock.ts";
import type { HomePaths } from "./paths.ts";

const LOOK_MS = 20;

interface Patience {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** Begins a handover, after the end of one in progress. Throws `timeout`. */
export async function beginHandover(
  { home, handover }: HomePaths,
  { ms }: Patience,
): Promise<Disposable> {
  const lock = await takeLockSoon(handover, ms);
  if (lock !== undefined) return { [Symbol.dispose]: () => removeLock(handover, lock) };
  throw new ProcsupError("timeout", `Another upgrade of the daemon of "${home}" does not end`);
}

/**
 * Waits for the end of a handover. Resolves with false if none is in progress, or it does not end in
 * time.
 */
export async function handoverEnds(
  { handover }: HomePaths,
  { ms, signal }: Patience,
): Promise<boolean> {
  const isEnough = () => signal?.aborted || isOver(handover);
  return !isOver(handover) && await comesTrue(isEnough, { ms, everyMs: LOOK_MS });
}

function isOver(handover: string): boolean {
  // The program that calls may not look.
  return ifPossible(() => isFree(handover)) ?? true;
}
