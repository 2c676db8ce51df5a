/** Time as the supervisor sees it; replaced in tests. */

/** Cancels a timer that has not fired. */
export type Cancel = () => void;

/** Wall time for people, steady time for measuring, and timers. */
export interface Clock {
  /** Milliseconds since the epoch; jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds that only grow. */
  steady(): number;
  /** Calls `act` once after `ms`, unless cancelled. */
  after(ms: number, act: () => void): Cancel;
}

/** 24.8 days. The runtime fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after(ms, act) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (left: number) => {
      const over = () => left > MAX_TIMER_MS ? wait(left - MAX_TIMER_MS) : act();
      timer = setTimeout(over, Math.min(left, MAX_TIMER_MS));
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** `AbortSignal.timeout()` that does not abort a longer time at once. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS));
}

/** A promise that resolves after `ms`, or when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/** Whether a condition comes true within `ms`. It is checked every `everyMs`. */
export async function comesTrue(
  condition: () => boolean | Promise<boolean>,
  { ms, everyMs }: { readonly ms: number; readonly everyMs: number },
): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!await condition()) {
    if (performance.now() > deadline) return false;
    await sleep(everyMs);
  }
  return true;
}
