/** Waits that an abort signal ends. */

/** The awaited value, or undefined as soon as the signal aborts. */
export async function orAborted<T>(
  awaited: Promise<T> | T,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = () => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The result of `work`; throws the signal's reason as soon as it aborts. Does not start `work` if
 * it is already aborted. Started work runs to its end.
 */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return await work();
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    const done = work();
    // Nothing awaits it after an abort: its rejection must not count as unhandled.
    done.catch(() => {});
    return await Promise.race([done, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
