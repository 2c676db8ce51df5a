/** Waiting for something to become true, instead of sleeping and hoping. */

/** How long to wait, and for what. */
export interface WaitOptions {
  /** Milliseconds; 10 s unless given. */
  readonly timeoutMs?: number;
  /** What is waited for, as the end of a sentence: `the process to be running`. */
  readonly what?: string;
}

const POLL_MS = 10;

/**
 * Returns when `condition` holds, asking every 10 ms. A condition that throws does not hold yet;
 * what it threw last becomes part of the failure when the time is over.
 */
export async function waitFor(
  condition: () => unknown | Promise<unknown>,
  { timeoutMs = 10_000, what = String(condition) }: WaitOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      if (await condition()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  } while (performance.now() < deadline);
  const detail = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : cause}`;
  throw new Error(`Waited ${timeoutMs} ms in vain for ${what}${detail}`, { cause });
}
