/** What is measured: a supervisor behind its command line. */

import { pause, readTextFile } from "./system.ts";

/** An app to start. */
export interface App {
  readonly name: string;
  /** Absolute path of an executable, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Start it again when it fails, at once and without end; else never. */
  readonly restart: boolean;
  /** Keep its log in one file, as PM2 does; procsup rotates by default. */
  readonly oneLog?: boolean;
}

/** A supervisor in a temporary home of its own, with a daemon that runs. */
export interface Contender {
  readonly name: "procsup" | "PM2";
  /** Argument of its idle apps, which are `sleep`: by it they are counted. */
  readonly idleSeconds: string;
  /** Milliseconds of `--version`. */
  version(): Promise<number>;
  /** Milliseconds of listing the apps. */
  list(): Promise<number>;
  /** Milliseconds of one command that starts this many idle apps. */
  startMany(count: number): Promise<number>;
  /** Milliseconds of a command that starts one idle app. */
  startOne(index: number): Promise<number>;
  /** Starts an app. */
  start(app: App): Promise<void>;
  /** Stops and forgets all apps. */
  deleteAll(): Promise<void>;
  /** Removes the logs of an app that is deleted. */
  removeLogs(name: string): void;
  daemonPid(): number;
  /** Processes beside the daemon that the supervisor needs for its apps. */
  helperPids(): number[];
  /** Ends apps and daemon, and removes the home. */
  close(): Promise<void>;
}

/** Every pid of the machine. */
export function pids(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
}

/** Throws unless that many idle apps run within a second: a start that is fast and wrong is none. */
export async function expectIdleApps(contender: Contender, count: number): Promise<void> {
  for (let round = 0; idleApps(contender) !== count; round++) {
    if (round === 50) throw new Error(`${idleApps(contender)} apps run, not ${count}`);
    await pause(20);
  }
}

function idleApps({ idleSeconds }: Contender): number {
  return pids().filter((pid) => {
    const [program, seconds] = (readTextFile(`/proc/${pid}/cmdline`) ?? "").split("\0");
    return program?.endsWith("sleep") && seconds === idleSeconds;
  }).length;
}
