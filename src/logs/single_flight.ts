/**
 * Readers at the same position share one read, so a log with a thousand followers is read and split
 * into lines only once.
 */

type Take = (found: unknown) => void;

/** Waiting readers by position. */
const waiting = new Map<string, Set<Take>>();

interface Found<T> {
  /** Undefined if the reader that looked gave up. */
  readonly found: T | undefined;
  /** True if the caller read it itself. */
  readonly isOwn: boolean;
}

/**
 * Runs `look` for a position, or waits for another caller that does. `onWait` receives a function that
 * ends the wait. Throws what the caller's own `look` throws; other callers then get undefined.
 */
export async function singleFlight<T>(
  place: string,
  look: () => Promise<T | undefined>,
  onWait: (leave: () => void) => void,
): Promise<Found<T>> {
  const others = waiting.get(place);
  if (others === undefined) return { found: await lookForAll(place, look), isOwn: true };
  const found = await new Promise<unknown>((resolve) => {
    others.add(resolve);
    onWait(() => {
      others.delete(resolve);
      resolve(undefined);
    });
  });
  return { found: found as T | undefined, isOwn: false };
}

async function lookForAll<T>(
  place: string,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const others = new Set<Take>();
  waiting.set(place, others);
  let found: T | undefined;
  try {
    return found = await look();
  } finally {
    waiting.delete(place);
    for (const take of others) take(found);
  }
}
