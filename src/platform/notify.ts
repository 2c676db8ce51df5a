/**
 * Tells systemd how this process is: sd_notify(3). By the system call itself, since Deno has no word
 * for a datagram socket without `--unstable-net` and none at all for an abstract address, and since
 * what the `systemd-notify` program sends does not come from the main process of the unit.
 */

import { C, openLibc, SOCK_DGRAM } from "./libc.ts";
import { isLinux } from "./os.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** What a service manager tells its services. It is not meant for what these start in turn. */
const SERVICE_VARIABLES = new Set([
  ...["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "FDSTORE", "MAINPID", "SYSTEMD_EXEC_PID"],
  ...["LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "MANAGERPID"],
  ...["MANAGERPIDFDID", "INVOCATION_ID", "JOURNAL_STREAM", "MEMORY_PRESSURE_WATCH"],
  ...["MEMORY_PRESSURE_WRITE", "XPC_SERVICE_NAME", "RC_SVCNAME"],
]);

/** Whether a variable is the service manager's word to this process alone. */
export function isServiceVariable(name: string): boolean {
  return SERVICE_VARIABLES.has(name);
}

/** Longest path of a Unix socket, in bytes. */
const MAX_PATH = 107;

/**
 * Sends `READY=1` and the like, several on lines of their own, to the socket that is waiting for
 * it (`NOTIFY_SOCKET`: a path, or `@` and an abstract name). Returns whether it was taken, which says
 * nothing about whether it was heeded. Throws when there is no C library.
 */
export function notifyService(socket: string, state: string): boolean {
  const address = socketAddress(socket);
  if (!isLinux || address === undefined) return false;
  const call = openLibc(SYMBOLS);
  const fd = call.socket(C.AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return false;
  try {
    const message = new TextEncoder().encode(state);
    const sent = call.sendto(fd, message, BigInt(message.length), 0, address, address.length);
    return Number(sent) === message.length;
  } finally {
    call.close(fd);
  }
}

/** `struct sockaddr_un` of Linux; undefined for an invalid address. */
function socketAddress(socket: string): Uint8Array<ArrayBuffer> | undefined {
  const path = new TextEncoder().encode(socket);
  if (!/^[/@]./.test(socket) || path.length > MAX_PATH) return undefined;
  const abstract = socket.startsWith("@");
  // A path ends with a zero, an abstract name with its length.
  const bytes = new Uint8Array(2 + path.length + (abstract ? 0 : 1));
  new DataView(bytes.buffer).setUint16(0, C.AF_UNIX, true);
  bytes.set(path, 2);
  if (abstract) bytes[2] = 0;
  return bytes;
}
