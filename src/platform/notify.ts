/**
 * Reports the state of this process to systemd: sd_notify(3). Uses system calls: Deno has datagram
 * sockets only with `--unstable-net`, and no abstract addresses. The `systemd-notify` program is
 * not the main process of the unit.
 */

import { C, openLibc, SOCK_DGRAM } from "./libc.ts";
import { isLinux } from "./os.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Variables that a service manager sets for a service, but not for the service's children. */
const SERVICE_VARIABLES = new Set([
  ...["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "FDSTORE", "MAINPID", "SYSTEMD_EXEC_PID"],
  ...["LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "MANAGERPID"],
  ...["MANAGERPIDFDID", "INVOCATION_ID", "JOURNAL_STREAM", "MEMORY_PRESSURE_WATCH"],
  ...["MEMORY_PRESSURE_WRITE", "XPC_SERVICE_NAME", "RC_SVCNAME"],
]);

/** Whether a service manager sets this variable for this process alone. */
export function isServiceVariable(name: string): boolean {
  return SERVICE_VARIABLES.has(name);
}

/** Longest path of a Unix socket, in bytes. */
const MAX_PATH = 107;

/** Whether a message was sent; `busy` if too many are waiting to be read. */
export type Notified = "sent" | "busy" | "nobody listens";

/** A full queue must not hold up the caller: it is full while systemd reloads its units. */
const MSG_DONTWAIT = 0x40;

/**
 * Sends `READY=1` and the like, one per line, to the socket in `NOTIFY_SOCKET` (a path, or `@` and
 * an abstract name). Returns whether it was sent, not whether it had an effect. Throws if the C
 * library cannot be loaded.
 */
export function notifyService(socket: string, state: string): Notified {
  const address = socketAddress(socket);
  if (!isLinux || address === undefined) return "nobody listens";
  const call = openLibc(SYMBOLS);
  const fd = call.socket(C.AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return "busy";
  try {
    if (call.connect(fd, address, address.length) !== 0) return "nobody listens";
    const message = new TextEncoder().encode(state);
    const sent = call.send(fd, message, BigInt(message.length), MSG_DONTWAIT);
    return Number(sent) === message.length ? "sent" : "busy";
  } finally {
    call.close(fd);
  }
}

/** `struct sockaddr_un` of Linux; undefined for an invalid address. */
function socketAddress(socket: string): Uint8Array<ArrayBuffer> | undefined {
  const path = new TextEncoder().encode(socket);
  if (!/^[/@]./.test(socket) || path.length > MAX_PATH) return undefined;
  const abstract = socket.startsWith("@");
  // A path ends with a zero byte. An abstract name has none.
  const bytes = new Uint8Array(2 + path.length + (abstract ? 0 : 1));
  new DataView(bytes.buffer).setUint16(0, C.AF_UNIX, true);
  bytes.set(path, 2);
  if (abstract) bytes[2] = 0;
  return bytes;
}
