/** What is measured: a supervisor behind its command line. */

import { readTextFile } from "./system.ts";

/** Argument of the idle apps, by which they are counted. */
export const IDLE_SECONDS = "3141592";

/** An app to start. */
export interface App {
  readonly name: string;
  /** Absolute path of an executable, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Start it again when it fails, at once and without end; else never. */
  readonly restart: boolean;
}

/** A supervisor in a temporary home of its own, with a daemon that runs. */
export interface Contender {
  readonly name: "procsup" | "PM2";
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
  daemonPid(): number;
  /** Processes beside the daemon that the supervisor needs for its apps. */
  helperPids(): number[];
  /** Ends apps and daemon, and removes the home. */
  close(): Promise<void>;
}

/** The idle apps that run now. */
export function idleApps(): number {
  return pids().filter((pid) => {
    const [program, seconds] = (readTextFile(`/proc/${pid}/cmdline`) ?? "").split("\0");
    return program?.endsWith("sleep") && seconds === IDLE_SECONDS;
  }).length;
}

/** Every pid of the machine. */
export function pids(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
}

/** Throws unless that many idle apps run within a second: a start that is fast and wrong is none. */
export async function expectIdleApps(count: number): Promise<void> {
  for (let round = 0; idleApps() !== count; round++) {
    if (round === 50) throw new Error(`${idleApps()} apps run, not ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
