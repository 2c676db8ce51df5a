/** Decides which connection to close at the limit, so that no account can lock out others. Pure. */

/**
 * The oldest place of the account with the most places. Undefined if that account would then have
 * fewer than the newcomer's. `taken` lists places with their accounts, the oldest first.
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
