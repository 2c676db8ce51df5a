/** Which connection is closed when all places are taken: no account can keep others out. Pure. */

/**
 * The first of those who have the most places, for a newcomer who has fewer; undefined when they have
 * no more than the newcomer would. `taken` names the account of each place, the oldest place first.
 */
export function placeToFree<T>(
  taken: Iterable<readonly [T, string]>,
  newcomer: string,
): T | undefined {
  const counts = new Map<string, { count: number; readonly oldest: T }>();
  for (const [place, account] of taken) {
    const known = counts.get(account);
    if (known === undefined) counts.set(account, { count: 1, oldest: place });
    else known.count++;
  }
  const own = counts.get(newcomer)?.count ?? 0;
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count);
  return most !== undefined && most.count > own + 1 ? most.oldest : undefined;
}
