/** An app that writes 100 MB to its standard output. */

import { processRow } from "../../../src/platform/process_table.ts";
import type { Contender } from "../contender.ts";
import { both, repeat } from "../repeat.ts";
import { eventually, pause, readTextFile, run, temporaryFolder } from "../system.ts";
import type { Row } from "../table.ts";

const RUNS = 5;

/** The app takes its own time: what comes before and after its output is not measured. */
const APP = `#!/bin/sh
from=$(date +%s%N)
yes "a line of output, as long as the lines of many a log: 0123456789" | head -c 104857600
echo $(($(date +%s%N) - from)) >"$RESULT.tmp"
mv "$RESULT.tmp" "$RESULT"
`;

/** The app's time, and the processor time that the daemon spent meanwhile. */
export async function output(contenders: readonly Contender[]): Promise<Row[]> {
  const folder = temporaryFolder();
  try {
    const script = `${folder}/app.sh`;
    await Deno.writeTextFile(script, APP, { mode: 0o755 });
    const bare = await repeat(RUNS, () => straight(script));
    const { procsup, pm2 } = await both(contenders, (one) => supervised(one, script));
    const goal = { factor: 1.1, of: "bare" } as const;
    return [
      { figure: "100 MB of output", unit: "ms", procsup: procsup.app, pm2: pm2.app, bare, goal },
      {
        figure: "daemon's CPU time for it",
        unit: "ms",
        procsup: procsup.daemon,
        pm2: pm2.daemon,
      },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Into a file, as a shell would. */
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
): Promise<{ app: number[]; daemon: number[] }> {
  const result = `${script}.result`;
  const daemon: number[] = [];
  const app = await repeat(RUNS, async () => {
    const before = cpuMs(contender);
    const env = { RESULT: result };
    await contender.start({ name: "writer", command: [script], env, restart: false });
    const ms = await taken(result);
    // What the daemon still has to do about it counts as well.
    await pause(500);
    daemon.push(cpuMs(contender) - before);
    await contender.deleteAll();
    return ms;
  });
  return { app: [...app], daemon: daemon.slice(1) };
}

function cpuMs(contender: Contender): number {
  return processRow(contender.daemonPid())!.cpuMs;
}

/** The milliseconds that the app has left in the file. */
async function taken(result: string): Promise<number> {
  const nanoseconds = await eventually(() => readTextFile(result));
  await Deno.remove(result);
  return Number(nanoseconds) / 1e6;
}
