/**
 * The `NOTIFY_SOCKET` of a run, to which its app reports by sd_notify(3).
 *
 * A program of the launch wrapper reads it, so that no message is lost and no app waits while there
 * is no daemon: `dd` makes a line of each line of a message in the file `<run id>.notify`, which the
 * daemon follows. Only the wrapper's processes have the socket open, and an empty message ends `dd`.
 * Which run sent a message is known by its socket, whoever of the run's processes it was: only the
 * app's user may write to it.
 */

import { ifPossible } from "../../model/errors.ts";
import { removeFile } from "../files/atomic_file.ts";
import { lstatIfAny } from "../files/stat.ts";
import { C, errno, mayCallC, openLibc, SOCK_DGRAM } from "../libc.ts";
import { isLinux, outputOf } from "../os.ts";
import { notifyService, socketAddress } from "../service_manager.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const SOCK_CLOEXEC = 0o2000000;

/** systemd refuses longer messages; of one, we read this much. */
export const MESSAGE_BYTES = 4096;

/** The reader writes no more of one message. */
export const WRITTEN_BYTES = 3 * MESSAGE_BYTES;

/**
 * Pads each message with blanks to three blocks, and replaces those at the end of a block with a
 * newline, which comes with the first byte of the next block: so an empty line ends a message.
 */
export const NOTICE_READER = `dd ibs=${WRITTEN_BYTES} cbs=${MESSAGE_BYTES} obs=1 conv=sync,unblock`;

let reads: boolean | undefined;

/** Why apps cannot have such a socket here, as the end of a sentence; undefined if they can. */
export function notifyProblem(): string | undefined {
  if (!isLinux) return "needs Linux";
  if (!mayCallC()) return "needs the permission to call the C library: --allow-ffi";
  reads ??= outputOf("/bin/sh", ["-c", `echo READY=1 | ${NOTICE_READER} 2>/dev/null`])?.trim() ===
    "READY=1";
  return reads ? undefined : 'needs a "dd" that knows conv=unblock, such as that of GNU coreutils';
}

/** Why a socket cannot have this path, as the end of a sentence. */
export function notifyPathProblem(path: string): string | undefined {
  if (socketAddress(path) !== undefined) return undefined;
  return `needs a shorter PROCSUP_HOME: "${path}" is too long for the path of a socket`;
}

/** Creates the socket, for the app's user alone. Returns its descriptor. Throws if refused. */
export function openNotifySocket(path: string, uid: number | undefined): number {
  const c = openLibc(SYMBOLS);
  const fd = c.socket(C.AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const address = socketAddress(path);
  if (fd < 0 || address === undefined || c.bind(fd, address, address.length) < 0) {
    const why = `its NOTIFY_SOCKET "${path}" cannot be opened: error number ${errno()}`;
    closeNotifySocket(fd);
    throw new Error(why);
  }
  Deno.chmodSync(path, 0o600);
  if (uid !== undefined) Deno.chownSync(path, uid, null);
  return fd;
}

export function closeNotifySocket(fd: number): void {
  if (fd >= 0) openLibc(SYMBOLS).close(fd);
}

/** Ends the reader of a socket, if the wrapper has not, and removes the socket. */
export function endNotifySocket(path: string): void {
  if (ifPossible(() => lstatIfAny(path)) === undefined) return;
  ifPossible(() => notifyService(path, ""));
  ifPossible(() => removeFile(path));
}
