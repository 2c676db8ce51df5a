/** Waits for a condition instead of a fixed time. */

export interface WaitOptions {
  /** Milliseconds; default 10 s. */
  readonly timeoutMs?: number;
  /** The condition as the end of a sentence: `the process to be running`. */
  readonly what?: string;
}

const POLL_MS = 10;

/**
 * Returns when `condition` is true; checks it every 10 ms. A condition that throws counts as false.
 * A timeout error includes the last error that it threw.
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
