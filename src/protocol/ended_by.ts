/** Streams that something else can end. */

/**
 * Passes a stream on until `subscribe` calls `end`, then sends the last item, if any, and ends.
 * `subscribe` returns its unsubscribe function.
 */
export function endedBy<T>(
  items: ReadableStream<T>,
  subscribe: (end: (last?: T) => void) => () => void,
): ReadableStream<T> {
  let isOver = false;
  let unsubscribe = () => {};
  const over = () => {
    isOver = true;
    unsubscribe();
  };
  return items.pipeThrough(
    new TransformStream<T, T>({
      start(out) {
        unsubscribe = subscribe((last) => {
          if (isOver) return;
          over();
          if (last !== undefined) out.enqueue(last);
          out.terminate();
        });
        // It may have called back at once.
        if (isOver) unsubscribe();
      },
      flush: over,
      cancel: over,
    }),
  );
}
