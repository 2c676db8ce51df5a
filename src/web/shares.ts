/** Decides which connection to close at the limit, so that no account can lock out others. Pure. */

/**
 * The oldest place of the account with the most places. Undefined if that account would then have
 * fewer than the newcomer's. `taken` lists places with their accounts, the oldest first.
 */
export function placeToFree<T>(
  taken: Iterable<readonly [T, string]>,
  newcomer: string,
): T | undefined {
  const places = Map.groupBy(taken, ([, account]) => account);
  const own = places.get(newcomer)?.length ?? 0;
  const [most] = [...places.values()].sort((a, b) => b.length - a.length);
  return most !== undefined && most.length > own + 1 ? most[0]![0] : undefined;
}
