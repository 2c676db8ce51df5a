/** Time to list 50 apps. */

import { type Contender, expectIdleApps } from "../contender.ts";
import { both, repeat } from "../repeat.ts";
import { pause } from "../system.ts";
import type { Row } from "../table.ts";

const APPS = 50;
const RUNS = 30;

/** Excludes the work of a daemon right after starting apps. */
const SETTLE_MS = 1000;

export async function list(contenders: readonly Contender[]): Promise<Row[]> {
  const samples = await both(contenders, async (contender) => {
    await contender.startMany(APPS);
    await expectIdleApps(contender, APPS);
    await pause(SETTLE_MS);
    const sample = await repeat(RUNS, () => contender.list());
    await contender.deleteAll();
    return sample;
  });
  return [{
    figure: `list ${APPS} apps`,
    unit: "ms",
    ...samples,
    goal: { factor: 1 / 8, of: "pm2" },
  }];
}
