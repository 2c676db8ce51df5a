/**
 * Those who have come to the same place wait there together: one of them looks for what comes next,
 * and all of them get it. A log with a thousand followers is read, and cut into lines, once.
 */

type Take = (found: unknown) => void;

/** Who waits, by place. */
const waiting = new Map<string, Set<Take>>();

/** What was found at a place. */
export interface Found<T> {
  /** Undefined when the one that looked gave up. */
  readonly found: T | undefined;
  /** It was looked for by the caller itself. */
  readonly isOwn: boolean;
}

/**
 * What comes after a place: looked for by `look`, unless somebody does so already. `onWait` gets a
 * function that ends the waiting for the other one. Throws what the caller's own `look` throws; to the
 * others that is as if it had given up.
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
