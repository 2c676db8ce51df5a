/** A daemon that is there and does not answer: how it is found out, and what is said of it. */

import { ProcsupError } from "../model/errors.ts";
import { readDaemonRecord } from "../platform/daemon_record.ts";
import { unixRequest } from "./unix_http.ts";

/**
 * Whether the daemon answers a ping on a connection of its own within `patienceMs`. One that refuses it while an earlier
 * connection stands is about to end, which may take its time.
 */
export async function isAlive(socket: string, patienceMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const ping = { method: "GET", path: "/api/ping", token: () => undefined, signal } as const;
    (await unixRequest(socket, ping)).close();
    return true;
  } catch (error) {
    return !signal.aborted && !(error instanceof Deno.errors.WouldBlock);
  }
}

/** The error `daemon_hangs`, with the daemon's pid where it is known. */
export function hangingDaemon(home: string, cause?: unknown): ProcsupError {
  const pid = readDaemonRecord(home)?.pid;
  const who = pid === undefined ? "" : ` (pid ${pid})`;
  return new ProcsupError("daemon_hangs", `The daemon of home "${home}"${who} does not answer`, {
    hint: `See what to do about it: procsup doctor --home ${home}`,
    cause,
  });
}
