/** Whether a daemon that has not answered yet is at work on it, or hangs. */

import type { ProcsupError } from "../model/errors.ts";
import type { HomePaths } from "../platform/paths.ts";

/** A daemon that answers no ping for that long hangs. */
const SILENCE_MS = 10_000;

/** Few requests take longer; those that do cost a ping. */
const FIRST_LOOK_MS = 1000;

/** One that has been seen alive is let wait in peace. */
const NEXT_LOOK_MS = 30_000;

/** A request that waits. */
export interface Waiting {
  readonly paths: HomePaths;
  /** The request is itself a ping: another one tells no more. */
  readonly isPing: boolean;
  /** Called with the reason when no answer will come. */
  readonly hangs: (why: ProcsupError) => void;
}

/** Watches over a request until what it returns is called. The daemon is pinged beside it. */
export function watchDaemon({ paths, isPing, hangs }: Waiting): () => void {
  let over = false;
  let unwatch = lookAfter(isPing ? SILENCE_MS : FIRST_LOOK_MS, look);
  async function look(): Promise<void> {
    const { hangingDaemon, isAlive } = await import("./hanging_daemon.ts");
    const alive = !isPing && await isAlive(paths.socket, SILENCE_MS);
    if (over) return;
    if (alive) unwatch = lookAfter(NEXT_LOOK_MS, look);
    else hangs(hangingDaemon(paths.home));
  }
  return () => {
    over = true;
    unwatch();
  };
}

/**
 * A timer of the engine, for every command waits for an answer: it costs 0.2 ms at its first use,
 * `AbortSignal.timeout` 0.8, `setTimeout` 5. It keeps no program from ending.
 */
function lookAfter(ms: number, look: () => void): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const { value } = Atomics.waitAsync(cell, 0, 0, ms);
  void Promise.resolve(value).then((how) => how === "timed-out" && look());
  return () => void Atomics.notify(cell, 0);
}
