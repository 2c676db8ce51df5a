/** CPU time of a daemon whose apps are idle, without clients. */

import { processRow } from "../../../src/platform/scan/process_table.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { both, type Contender, expectIdleApps } from "../contender.ts";
import type { Row } from "../table.ts";

const APPS = 100;
/** Excludes the work of a daemon right after starting apps. */
const SETTLE_MS = 15_000;
/** Long, as the kernel counts in steps of 10 ms. */
const WATCH_MS = 120_000;

export async function idle(contenders: readonly Contender[]): Promise<Row[]> {
  const samples = await both(contenders, async (one) => [await percentOfCore(one)]);
  return [{ figure: `daemon with ${APPS} idle apps, CPU`, unit: "%", ...samples, goal: 0.1 }];
}

async function percentOfCore(contender: Contender): Promise<number> {
  await contender.startMany(APPS);
  await expectIdleApps(contender, APPS);
  await sleep(SETTLE_MS);
  const cpuMs = () => processRow(contender.daemonPid())!.cpuMs;
  const [before, at] = [cpuMs(), performance.now()];
  await sleep(WATCH_MS);
  const used = (cpuMs() - before) / (performance.now() - at) * 100;
  await contender.deleteAll();
  return used;
}
