/** From one daemon of a home to the next: the record of the last one, and the lock of a handover. */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { readFileIfAny, replaceFile } from "./atomic_file.ts";
import { comesTrue } from "./clock.ts";
import { isFree, removeLock, takeLockSoon } from "./lock.ts";
import { fixedWords } from "./own_program.ts";
import type { HomePaths } from "./paths.ts";
import { type ServiceManager, startedBy } from "./service_manager.ts";
import { sealed, unsealed } from "./state_file.ts";

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
