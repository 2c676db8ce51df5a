/** Waiting that a signal ends. */

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
 * What `work` gives, or the signal's reason as soon as that aborts. Aborted before, nothing is done;
 * what has begun is carried out to its end.
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
    // Nothing waits for it after an abort: a rejection is not unhandled.
    done.catch(() => {});
    return await Promise.race([done, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
