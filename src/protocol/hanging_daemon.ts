/** Detects a daemon that runs but does not answer. */

import { ProcsupError } from "../model/errors.ts";
import { shellWord } from "../model/shell_line.ts";
import { isSystemError } from "../platform/client_system.ts";
import { unixRequest } from "./unix_http.ts";

/**
 * Whether the daemon answers a ping on a separate connection within `patienceMs`. A daemon that refuses
 * the connection is shutting down, which counts as alive: it may take a while.
 */
export async function isAlive(socket: string, patienceMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const ping = { method: "GET", path: "/api/ping", token: () => undefined, signal } as const;
    (await unixRequest(socket, ping)).close();
    return true;
  } catch (error) {
    return !signal.aborted && !(isSystemError(error, "WouldBlock"));
  }
}

/** The error `daemon_hangs`, with the daemon's pid if known. */
export async function hangingDaemon(home: string, cause?: unknown): Promise<ProcsupError> {
  // Runtimes other than Deno cannot load this module.
  const pid = await import("../platform/daemon_record.ts")
    .then(({ readDaemonRecord }) => readDaemonRecord(home)?.pid, () => undefined);
  const who = pid === undefined ? "" : ` (pid ${pid})`;
  return new ProcsupError("daemon_hangs", `The daemon of home "${home}"${who} does not answer`, {
    hint: `To find out more: procsup doctor --home ${shellWord(home)}`,
    cause,
  });
}
