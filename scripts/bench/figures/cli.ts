/** Startup time of the command line. */

import type { Contender } from "../contender.ts";
import { both, repeat } from "../repeat.ts";
import type { Row } from "../table.ts";

const RUNS = 11;

export async function cli(contenders: readonly Contender[]): Promise<Row[]> {
  const samples = await both(contenders, (one) => repeat(RUNS, () => one.version()));
  return [{ figure: "`--version`", unit: "ms", ...samples }];
}
