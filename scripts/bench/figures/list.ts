/** Listing 50 apps, and the memory that supervising them takes. */

import { type Contender, expectIdleApps } from "../contender.ts";
import { both, repeat } from "../repeat.ts";
import { memoryKb, pause } from "../system.ts";
import type { Row, Sample } from "../table.ts";

const APPS = 50;
const RUNS = 11;
const SETTLE_MS = 5000;

interface Samples {
  readonly list: Sample;
  readonly rss: Sample;
  readonly anonymous: Sample;
  readonly whole: Sample;
}

/** The time of `list`, and memory once all is quiet. */
export async function list(contenders: readonly Contender[]): Promise<Row[]> {
  const { procsup, pm2 } = await both(contenders, withIdleApps);
  const row = (figure: string, key: keyof Samples, unit: Row["unit"]): Row => ({
    figure,
    unit,
    procsup: procsup[key],
    pm2: pm2[key],
  });
  const goal = (factor: number) => ({ goal: { factor, of: "pm2" } }) as const;
  return [
    { ...row(`list ${APPS} apps`, "list", "ms"), ...goal(1 / 8) },
    { ...row(`daemon with ${APPS} idle apps, RSS`, "rss", "MB"), ...goal(0.75) },
    row(`daemon with ${APPS} idle apps, RssAnon`, "anonymous", "MB"),
    row("the same with launch wrappers, PSS", "whole", "MB"),
  ];
}

async function withIdleApps(contender: Contender): Promise<Samples> {
  await contender.startMany(APPS);
  await expectIdleApps(APPS);
  const list = await repeat(RUNS, () => contender.list());
  await pause(SETTLE_MS);
  const daemon = contender.daemonPid();
  const whole = [daemon, ...contender.helperPids()].map((pid) => memoryKb(pid, "Pss"));
  const samples = {
    list,
    rss: [memoryKb(daemon, "VmRSS") / 1024],
    anonymous: [memoryKb(daemon, "RssAnon") / 1024],
    whole: [whole.reduce((sum, kb) => sum + kb, 0) / 1024],
  };
  await contender.deleteAll();
  return samples;
}
