/** Giving up on waiting for something that goes on by itself. */

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
    // Given up: nobody is left to hear how it went.
    done.catch(() => {});
    return await Promise.race([done, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
