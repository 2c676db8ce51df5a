/** The interface of a measured supervisor, behind its command line, and the repetition of measurements. */

import { comesTrue } from "../../src/platform/clock.ts";
import { readTextFile } from "./system.ts";
import type { Sample } from "./table.ts";

export interface App {
  readonly name: string;
  /** Absolute path of an executable, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Restart it whenever it fails, at once and without limit; otherwise never. */
  readonly restart: boolean;
  /** Keep the log in one file as PM2 does, although procsup rotates by default. */
  readonly oneLog?: boolean;
}

/** A supervisor in a temporary home, with a running daemon. */
export interface Contender {
  readonly name: "procsup" | "PM2";
  /** Argument of its idle apps, which run `sleep`; identifies them when they are counted. */
  readonly idleSeconds: string;
  /** Milliseconds of `--version`. */
  version(): Promise<number>;
  /** Milliseconds of listing the apps. */
  list(): Promise<number>;
  /** Milliseconds of one command that starts `count` idle apps. */
  startMany(count: number): Promise<number>;
  /** Milliseconds of a command that starts one idle app. */
  startOne(index: number): Promise<number>;
  start(app: App): Promise<void>;
  /** Stops and deletes all apps. */
  deleteAll(): Promise<void>;
  /** Removes the logs of a deleted app. */
  removeLogs(name: string): void;
  daemonPid(): number;
  /** Pids of further processes that the supervisor needs for its apps. */
  helperPids(): number[];
  /** Stops apps and daemon, and removes the home. */
  close(): Promise<void>;
}

/** All pids of the machine. */
export function pids(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
}

/** Throws unless `count` idle apps run within a second, so that a failed start is not measured. */
export async function expectIdleApps(contender: Contender, count: number): Promise<void> {
  const areUp = () => idleApps(contender) === count;
  if (await comesTrue(areUp, { ms: 1000, everyMs: 20 })) return;
  throw new Error(`${idleApps(contender)} apps run, not ${count}`);
}

function idleApps({ idleSeconds }: Contender): number {
  return pids().filter((pid) => {
    const [program, seconds] = (readTextFile(`/proc/${pid}/cmdline`) ?? "").split("\0");
    return program?.endsWith("sleep") && seconds === idleSeconds;
  }).length;
}

/** The results of `measure`, after a first one that does not count. */
export async function repeat(runs: number, measure: () => Promise<number>): Promise<Sample> {
  await measure();
  return await times(runs, measure);
}

export async function times(runs: number, measure: () => Promise<number>): Promise<Sample> {
  const results: number[] = [];
  for (let run = 0; run < runs; run++) results.push(await measure());
  return results;
}

/** Measures both contenders, one after the other. */
export async function both<T>(
  contenders: readonly Contender[],
  measure: (contender: Contender) => Promise<T>,
): Promise<{ procsup: T; pm2: T }> {
  const [procsup, pm2] = contenders;
  return { procsup: await measure(procsup!), pm2: await measure(pm2!) };
}
