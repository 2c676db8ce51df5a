/** Time from the death of an app to the first line of its successor. */

import { both, type Contender, repeat } from "../contender.ts";
import { eventually, readTextFile, temporaryFolder } from "../system.ts";
import type { Row } from "../table.ts";

const RUNS = 15;

/** The app logs its start time and its pid. */
const APP = `#!/bin/sh
echo "$(date +%s%N) $$" >>"$STARTS"
exec sleep 1000
`;

interface Start {
  /** Milliseconds since the epoch, with fractions. */
  readonly at: number;
  readonly pid: number;
}

/** Kills the app; restarts have no delay. For comparison, spawns it from this program. */
export async function recovery(contenders: readonly Contender[]): Promise<Row[]> {
  const folder = temporaryFolder();
  try {
    const script = `${folder}/app.sh`;
    await Deno.writeTextFile(script, APP, { mode: 0o755 });
    const samples = await both(contenders, (one) => recoveries(one, script));
    const bare = await repeat(RUNS, () => spawn(script, `${folder}/bare`));
    const goal = { factor: 1, of: "pm2" } as const;
    return [{ figure: "crash to running again", unit: "ms", ...samples, bare, goal }];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function recoveries(contender: Contender, script: string): Promise<number[]> {
  const starts = `${script}.${contender.name}`;
  const env = { STARTS: starts };
  await contender.start({ name: "crashes", command: [script], env, restart: true });
  let last = await eventually(() => lastStart(starts, 0));
  const sample = await repeat(RUNS, async () => {
    const { pid } = last;
    const killedAt = now();
    Deno.kill(pid, "SIGKILL");
    last = await eventually(() => lastStart(starts, pid));
    return last.at - killedAt;
  });
  await contender.deleteAll();
  return [...sample];
}

async function spawn(script: string, starts: string): Promise<number> {
  const before = lastStart(starts, 0)?.pid ?? 0;
  const spawnedAt = now();
  const child = new Deno.Command(script, {
    env: { STARTS: starts },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const { at } = await eventually(() => lastStart(starts, before));
  child.kill("SIGKILL");
  await child.status;
  return at - spawnedAt;
}

/** The last complete line of the file, unless its pid is `not`. */
function lastStart(path: string, not: number): Start | undefined {
  const line = /(?:^|\n)(\d+) (\d+)\n$/.exec(readTextFile(path) ?? "");
  if (line === null || Number(line[2]) === not) return undefined;
  return { at: Number(BigInt(line[1]!) / 1000n) / 1000, pid: Number(line[2]) };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
