/**
 * Memory needed to supervise 50 idle apps. Counts only private memory: RSS includes pages of
 * program files, which all processes share and the kernel can drop.
 */

import { type Contender, expectIdleApps } from "../contender.ts";
import { Pm2 } from "../pm2.ts";
import { Procsup } from "../procsup.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { memoryKb } from "../system.ts";
import type { Row } from "../table.ts";

const APPS = 50;
/** Both daemons shrink their heaps within this time. */
const SETTLE_MS = 40_000;

interface Megabytes {
  readonly anonymous: number;
  readonly whole: number;
}

/** Measures new daemons after they have become idle. */
export async function memory(): Promise<Row[]> {
  const [procsup, pm2] = await Promise.all([settled(Procsup.open()), settled(Pm2.open())]);
  const row = (figure: string, key: keyof Megabytes): Row => ({
    figure,
    unit: "MB",
    procsup: [procsup[key]],
    pm2: [pm2[key]],
  });
  return [
    {
      ...row(`daemon with ${APPS} idle apps, RssAnon`, "anonymous"),
      goal: 20,
    },
    row("the same with launch wrappers, PSS", "whole"),
  ];
}

async function settled(opening: Promise<Contender>): Promise<Megabytes> {
  const contender = await opening;
  try {
    await contender.startMany(APPS);
    await expectIdleApps(contender, APPS);
    await sleep(SETTLE_MS);
    const daemon = contender.daemonPid();
    const whole = [daemon, ...contender.helperPids()].map((pid) => memoryKb(pid, "Pss"));
    return {
      anonymous: memoryKb(daemon, "RssAnon") / 1024,
      whole: whole.reduce((sum, kb) => sum + kb, 0) / 1024,
    };
  } finally {
    await contender.close();
  }
}
