/** Repeats measurements, for each contender. */

import type { Contender } from "./contender.ts";
import type { Sample } from "./table.ts";

/** The results of `measure`, after a first one that does not count. */
export async function repeat(runs: number, measure: () => Promise<number>): Promise<Sample> {
  await measure();
  return await times(runs, measure);
}

export async function times(runs: number, measure: () => Promise<number>): Promise<Sample> {
  const results: number[] = [];
  for (let run = 0; run < runs; run++) results.push(await measure());
  return results;
}

/** Measures both contenders, one after the other. */
export async function both<T>(
  contenders: readonly Contender[],
  measure: (contender: Contender) => Promise<T>,
): Promise<{ procsup: T; pm2: T }> {
  const [procsup, pm2] = contenders;
  return { procsup: await measure(procsup!), pm2: await measure(pm2!) };
}
