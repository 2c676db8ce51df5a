/** The cost of an app that writes 100 MB to its standard output. */

import { processRow } from "../../../src/platform/scan/process_table.ts";
import type { Contender } from "../contender.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { eventually, readTextFile, run, temporaryFolder } from "../system.ts";
import type { Row } from "../table.ts";

const RUNS = 7;
const SETTLE_MS = 1000;

/** The app measures itself, so that only its output counts. */
const APP = `#!/bin/sh
from=$(date +%s%N)
yes "a line of output, as long as the lines of many a log: 0123456789" | head -c 104857600
echo $(($(date +%s%N) - from)) >"$RESULT.tmp"
mv "$RESULT.tmp" "$RESULT"
`;

/** The app's time, and the CPU time of the daemon meanwhile. */
export async function output([procsup, pm2]: readonly Contender[]): Promise<Row[]> {
  const folder = temporaryFolder();
  try {
    const script = `${folder}/app.sh`;
    await Deno.writeTextFile(script, APP, { mode: 0o755 });
    return rows(await rounds(script, procsup!, pm2!));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Round {
  readonly bare: number;
  readonly procsup: Written;
  /** With the log in one file, as in PM2. */
  readonly oneLog: Written;
  readonly pm2: Written;
}

interface Written {
  readonly appMs: number;
  readonly daemonMs: number;
}

/**
 * Alternates the contenders, so that a busy moment of the machine or the disk hits all of them. The
 * first round does not count.
 */
async function rounds(script: string, procsup: Contender, pm2: Contender): Promise<Round[]> {
  const all: Round[] = [];
  for (let round = 0; round <= RUNS; round++) {
    all.push({
      bare: await straight(script),
      procsup: await supervised(procsup, script),
      oneLog: await supervised(procsup, script, true),
      pm2: await supervised(pm2, script),
    });
  }
  return all.slice(1);
}

function rows(rounds: readonly Round[]): Row[] {
  return [
    {
      figure: "100 MB of output",
      unit: "ms",
      procsup: rounds.map(({ procsup }) => procsup.appMs),
      pm2: rounds.map(({ pm2 }) => pm2.appMs),
      bare: rounds.map(({ bare }) => bare),
      goal: { factor: 1.1, of: "bare" },
    },
    {
      figure: "CPU time of the daemon for it",
      unit: "ms",
      procsup: rounds.map(({ procsup }) => procsup.daemonMs),
      pm2: rounds.map(({ pm2 }) => pm2.daemonMs),
    },
    {
      figure: "the same without rotation",
      unit: "ms",
      procsup: rounds.map(({ oneLog }) => oneLog.daemonMs),
      pm2: rounds.map(({ pm2 }) => pm2.daemonMs),
    },
  ];
}

/** Writes into a file, as a shell would. */
async function straight(script: string): Promise<number> {
  const result = `${script}.result`;
  await run(["sh", "-c", '"$0" >>"$0.log"', script], { RESULT: result });
  const ms = await taken(result);
  await Deno.remove(`${script}.log`);
  return ms;
}

async function supervised(
  contender: Contender,
  script: string,
  oneLog: boolean = false,
): Promise<Written> {
  const result = `${script}.result`;
  const before = await settledCpuMs(contender);
  await contender.start({
    name: "writer",
    command: [script],
    env: { RESULT: result },
    restart: false,
    oneLog,
  });
  const appMs = await taken(result);
  const daemonMs = await settledCpuMs(contender) - before;
  await contender.deleteAll();
  contender.removeLogs("writer");
  return { appMs, daemonMs };
}

/** CPU time of the daemon once it is idle, including the compression of archives. */
async function settledCpuMs(contender: Contender): Promise<number> {
  const cpuMs = () => processRow(contender.daemonPid())!.cpuMs;
  let before: number;
  let now = cpuMs();
  do {
    before = now;
    await sleep(SETTLE_MS);
    now = cpuMs();
  } while (now > before);
  return now;
}

/** Reads the milliseconds that the app measured. */
async function taken(result: string): Promise<number> {
  const nanoseconds = await eventually(() => readTextFile(result));
  await Deno.remove(result);
  return Number(nanoseconds) / 1e6;
}
