/** Times of commands: starting 50 apps with one command and with 50, listing them, and `--version`. */

import { both, type Contender, expectIdleApps, repeat, times } from "../contender.ts";
import { emptyProgram, spawns } from "../system.ts";
import type { Row } from "../table.ts";
import { sleep } from "../../../src/platform/clock.ts";

const APPS = 50;
/** Repetitions of each figure. */
const STARTS = 5;
const LISTS = 30;
const VERSIONS = 11;
/** Excludes the work of a daemon right after starting apps. */
const SETTLE_MS = 1000;

/** The time until the command returns with the apps running. */
export async function start(contenders: readonly Contender[]): Promise<Row[]> {
  const many = await both(contenders, (one) => times(STARTS, () => atOnce(one)));
  const single = await both(contenders, (one) => times(1, () => oneByOne(one)));
  const bare = await repeat(STARTS, () => spawns(APPS));
  return [
    {
      figure: `start ${APPS} apps, one command`,
      unit: "ms",
      ...many,
      bare,
      goal: { factor: 2, of: "bare" },
    },
    { figure: `start ${APPS} apps, ${APPS} commands`, unit: "ms", ...single },
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

export async function list(contenders: readonly Contender[]): Promise<Row[]> {
  const samples = await both(contenders, async (contender) => {
    await contender.startMany(APPS);
    await expectIdleApps(contender, APPS);
    await sleep(SETTLE_MS);
    const sample = await repeat(LISTS, () => contender.list());
    await contender.deleteAll();
    return sample;
  });
  return [{
    figure: `list ${APPS} apps`,
    unit: "ms",
    ...samples,
    bare: await repeat(LISTS, emptyProgram),
    goal: { factor: 1.7, of: "bare" },
  }];
}

export async function cli(contenders: readonly Contender[]): Promise<Row[]> {
  const samples = await both(contenders, (one) => repeat(VERSIONS, () => one.version()));
  const bare = await repeat(VERSIONS, emptyProgram);
  return [{
    figure: "`--version`",
    unit: "ms",
    ...samples,
    bare,
    goal: { factor: 1.3, of: "bare" },
  }];
}
