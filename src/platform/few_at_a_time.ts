/** Calls `act` for each item, `most` at a time; returns the results in the order of the items. */
export async function fewAtATime<I, T>(
  most: number,
  items: readonly I[],
  act: (item: I) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const rest = items.entries();
  const work = async () => {
    for (const [index, item] of rest) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return results;
}
