/** Detects whether a daemon that has not answered yet is busy or hangs. */

import { ProcsupError } from "../model/errors.ts";
import type { HomePaths } from "../platform/files/paths.ts";
import { isSystemError } from "../platform/client_system.ts";
import { unixRequest } from "./unix_http.ts";
import { commandHint } from "../model/hint.ts";
import { IPC_PATH } from "./version.ts";

/**
 * Maximum time until a new daemon answers, or one that ends has released its home. On a busy machine
 * a start takes more than 10 s.
 */
export const DAEMON_PATIENCE_MS = 60_000;

/** Timeout of a ping. */
const SILENCE_MS = 10_000;

/**
 * A daemon that misses this many pings in a row hangs. One is not enough: when the whole machine
 * was suspended, a ping under way times out before the daemon can answer it.
 */
const MISSED_PINGS = 2;

/** Time after which a waiting request sends a ping. Few requests take that long. */
const FIRST_LOOK_MS = 1000;

/** Time between further pings, once the daemon was found alive. */
const NEXT_LOOK_MS = 30_000;

interface Waiting {
  readonly paths: HomePaths;
  /** True if the request itself is a ping. */
  readonly isPing: boolean;
  /** Called with the reason if no answer will come. */
  readonly hangs: (why: ProcsupError) => void;
}

/** Watches a request, pinging the daemon beside it. Returns a function that ends the watch. */
export function watchDaemon({ paths, isPing, hangs }: Waiting): () => void {
  let over = false;
  let missed = isPing ? 1 : 0;
  let unwatch = lookAfter(isPing ? SILENCE_MS : FIRST_LOOK_MS, look);
  async function look(): Promise<void> {
    const alive = await isAlive(paths.socket);
    if (over) return;
    missed = alive ? 0 : missed + 1;
    if (missed >= MISSED_PINGS) hangs(await hangingDaemon(paths.home));
    else if (alive) unwatch = lookAfter(NEXT_LOOK_MS, look);
    else void look();
  }
  return () => {
    over = true;
    unwatch();
  };
}

/**
 * A timer that does not keep the program running. It takes 0.2 ms at first use, where
 * `AbortSignal.timeout` takes 0.8 ms and `setTimeout` 5 ms, and every command needs it.
 */
function lookAfter(ms: number, look: () => void): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const { value } = Atomics.waitAsync(cell, 0, 0, ms);
  void Promise.resolve(value).then((how) => how === "timed-out" && look());
  return () => void Atomics.notify(cell, 0);
}

/**
 * Whether the daemon answers a ping on a separate connection. A daemon that refuses the connection is
 * shutting down, which counts as alive: it may take a while.
 */
async function isAlive(socket: string): Promise<boolean> {
  const signal = AbortSignal.timeout(SILENCE_MS);
  try {
    const body = JSON.stringify({ action: "ping" });
    const ping = { method: "POST", path: IPC_PATH, body, token: () => undefined, signal } as const;
    (await unixRequest(socket, ping)).close();
    return true;
  } catch (error) {
    return !signal.aborted && !isSystemError(error, "WouldBlock");
  }
}

/** The error `daemon_hangs`, with the daemon's pid if known. */
export async function hangingDaemon(home: string, cause?: unknown): Promise<ProcsupError> {
  // Runtimes other than Deno cannot load this module.
  const pid = await import("../platform/daemon_record.ts")
    .then(({ readDaemonRecord }) => readDaemonRecord(home)?.pid, () => undefined);
  const who = pid === undefined ? "" : ` (pid ${pid})`;
  return new ProcsupError("daemon_hangs", `The daemon of home "${home}"${who} does not answer`, {
    hint: commandHint("doctor", undefined, { home }),
    cause,
  });
}
