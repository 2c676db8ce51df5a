/** Waits for something until it is not wanted any more: then it resolves with undefined. */
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
