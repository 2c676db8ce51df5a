/**
 * From one daemon of a home to the next: the record of the last one, the lock of a handover, and the
 * program that a detached daemon runs from.
 */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { readFileIfAny, replaceFile } from "./files/atomic_file.ts";
import { comesTrue } from "./clock.ts";
import { isFree, removeLock, takeLockSoon } from "./files/lock.ts";
import { fixedWords, npmBundle } from "./own_program.ts";
import type { HomePaths } from "./files/paths.ts";
import { type ServiceManager, startedBy } from "./service_manager.ts";
import { sealed, unsealed } from "./files/state_file.ts";
import { basename } from "@std/path";
import { ifAny, namesIn } from "./files/stat.ts";

/** Version of the format of state/. A program refuses the state of a newer one. */
export const STATE_FORMAT = 1;

/** A daemon, as it recorded itself. */
export interface DaemonRecord {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  /** The `STATE_FORMAT` it writes. */
  readonly state: number;
  /** Command line that starts the same build again, even if the executable was replaced since. */
  readonly words: readonly string[];
  /** The service manager that restarts it; null without one. */
  readonly service: ServiceManager | null;
}

export function recordDaemon(home: string, version: string, protocol: number): void {
  const record: DaemonRecord = {
    pid: Deno.pid,
    version,
    protocol,
    state: STATE_FORMAT,
    words: fixedWords(),
    service: startedBy(),
  };
  replaceFile(recordPath(home), `${sealed(record)}\n`);
}

/** The record of the last daemon of a home; undefined if there is none, or it is damaged. */
export function readDaemonRecord(home: string): DaemonRecord | undefined {
  return ifPossible(() => unsealed(readFileIfAny(recordPath(home)) ?? "") as DaemonRecord);
}

/**
 * Throws `other_version` when a newer program wrote the state of a home in a format that this one,
 * of version `own`, does not understand: every record would look damaged.
 */
export function refuseNewerState(home: string, own: string): void {
  const { state, version } = readDaemonRecord(home) ?? { state: 0, version: "" };
  if (state <= STATE_FORMAT) return;
  throw new ProcsupError(
    "other_version",
    `Cannot use home "${home}": version ${version} wrote its state in format ${state}, ` +
      `and this, version ${own}, understands ${STATE_FORMAT}`,
    { hint: `Nothing was changed. Install version ${version}, or choose another --home` },
  );
}

/** Path of the daemon's record in a home. */
export function recordPath(home: string): string {
  return `${home}/state/daemon.json`;
}

const LOOK_MS = 20;

interface Patience {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** Begins a handover, after the end of one in progress. Throws `timeout`. */
export async function beginHandover(
  { home, handover }: HomePaths,
  { ms }: Patience,
): Promise<Disposable> {
  const lock = await takeLockSoon(handover, ms);
  if (lock !== undefined) return { [Symbol.dispose]: () => removeLock(handover, lock) };
  throw new ProcsupError("timeout", `Another upgrade of the daemon of "${home}" does not end`);
}

/**
 * Waits for the end of a handover. Resolves with false if none is in progress, or it does not end in
 * time.
 */
export async function handoverEnds(
  { handover }: HomePaths,
  { ms, signal }: Patience,
): Promise<boolean> {
  const isEnough = () => signal?.aborted || isOver(handover);
  return !isOver(handover) && await comesTrue(isEnough, { ms, everyMs: LOOK_MS });
}

function isOver(handover: string): boolean {
  // The program that calls may not look.
  return ifPossible(() => isFree(handover)) ?? true;
}

/**
 * File that is written into the bundle when it is built. The daemon runs from a copy of the bundle in
 * its home, 3 MB: npm replaces a package in place, so a daemon that ran from the package could not
 * load the rest of it, nor be restarted.
 */
const BUILD_ID = "build_id";

/** Command line of the copy that `keepProgram()` makes for a home. It need not exist yet. */
export function keptWords(home: string): readonly string[] {
  const npm = npmBundle();
  return npm === undefined ? fixedWords() : npm.wordsFor(copyOf(npm.folder, home));
}

/** Copies the program into a home if needed. Removes copies of other versions that no daemon runs. */
export function keepProgram(home: string): void {
  const npm = npmBundle();
  if (npm === undefined) return;
  const copy = copyOf(npm.folder, home);
  if (isKept(copy)) return;
  removeOthers(home, basename(copy));
  const temporary = `${copy}.${Deno.pid}`;
  try {
    Deno.mkdirSync(temporary, { recursive: true, mode: 0o700 });
    for (const { name, isFile } of Deno.readDirSync(npm.folder)) {
      if (isFile) Deno.copyFileSync(`${npm.folder}/${name}`, `${temporary}/${name}`);
    }
    Deno.renameSync(temporary, copy);
  } catch (error) {
    ifAny(() => Deno.removeSync(temporary, { recursive: true }));
    // Another process may have been faster.
    if (!isKept(copy)) throw error;
  }
}

function isKept(copy: string): boolean {
  return readFileIfAny(`${copy}/${BUILD_ID}`) !== undefined;
}

function copyOf(folder: string, home: string): string {
  return `${home}/program/${Deno.readTextFileSync(`${folder}/${BUILD_ID}`).trim()}`;
}

/** Copies of this version stay: another process may be making one at this moment. */
function removeOthers(home: string, own: string): void {
  const used = readDaemonRecord(home)?.words.join("\n") ?? "";
  for (const name of namesIn(`${home}/program`)) {
    if (name === own || name.startsWith(`${own}.`)) continue;
    const path = `${home}/program/${name}`;
    if (!used.includes(`${path}/`)) ifAny(() => Deno.removeSync(path, { recursive: true }));
  }
}
