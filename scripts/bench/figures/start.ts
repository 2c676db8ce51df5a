/** Starts 50 apps, with one command and with 50. */

import { type Contender, expectIdleApps } from "../contender.ts";
import { both, times } from "../repeat.ts";
import type { Row } from "../table.ts";

const APPS = 50;
const RUNS = 5;
const GOAL = { factor: 1 / 8, of: "pm2" } as const;

/** The time until the command returns with the apps running. */
export async function start(contenders: readonly Contender[]): Promise<Row[]> {
  const many = await both(contenders, (one) => times(RUNS, () => atOnce(one)));
  const single = await both(contenders, (one) => times(1, () => oneByOne(one)));
  return [
    { figure: `start ${APPS} apps, one command`, unit: "ms", ...many, goal: GOAL },
    { figure: `start ${APPS} apps, ${APPS} commands`, unit: "ms", ...single, goal: GOAL },
  ];
}

async function atOnce(contender: Contender): Promise<number> {
  const ms = await contender.startMany(APPS);
  await expectIdleApps(contender, APPS);
  await contender.deleteAll();
  return ms;
}

async function oneByOne(contender: Contender): Promise<number> {
  let ms = 0;
  for (let index = 0; index < APPS; index++) ms += await contender.startOne(index);
  await expectIdleApps(contender, APPS);
  await contender.deleteAll();
  return ms;
}
