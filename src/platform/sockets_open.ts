/** Opens listening sockets, and recovers those that a running instance holds. */

import { ProcsupError } from "../model/errors.ts";
import { C, EACCES, EPERM, IPPROTO_IPV6, libc, SOCK_STREAM } from "./libc.ts";
import { isLinux } from "./os.ts";
import { isSockaddr, type SocketAddress, toSockaddr } from "./sockets_address.ts";

/** Maximum number of connections not accepted yet; the kernel's limit (`somaxconn`) is higher. */
const BACKLOG = 1024;

/** Ends both directions. */
const SHUT_RDWR = 2;

/** First descriptor that an instance inherits (the systemd convention). */
const FIRST_FD = 3;

/**
 * Opens a listening socket, closed on exec. With `beside`, another socket of `openListener()` may
 * already hold the address. Throws `ProcsupError` `start_failed` naming the address.
 */
export function openListener(address: SocketAddress, beside = false): number {
  const fd = newSocket(address);
  try {
    check(address, libc().call.ioctl(fd.number, C.FIOCLEX));
    setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEADDR, 1);
    if (fd.family === C.AF_INET6) {
      setOption(fd.number, IPPROTO_IPV6, C.IPV6_V6ONLY, address.bytes === undefined ? 0 : 1);
    }
    if (beside) setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEPORT, 1);
    const sockaddr = toSockaddr(address, fd.family);
    check(address, libc().call.bind(fd.number, sockaddr, sockaddr.length));
    // After the bind: set before it, another program with this option could share the port.
    setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEPORT, 1);
    check(address, libc().call.listen(fd.number, BACKLOG));
    return fd.number;
  } catch (error) {
    closeSocket(fd.number);
    throw error;
  }
}

/**
 * Closes a descriptor. With `everywhere`, the socket stops listening for every process that has it:
 * one that is just being forked holds its address for a moment longer.
 */
export function closeSocket(fd: number, everywhere = false): void {
  if (everywhere) libc().call.shutdown(fd, SHUT_RDWR);
  libc().call.close(fd);
}

function newSocket(address: SocketAddress): { number: number; family: number } {
  const family = address.bytes?.length === 4 ? C.AF_INET : C.AF_INET6;
  const number = libc().call.socket(family, SOCK_STREAM, 0);
  if (number >= 0) return { number, family };
  if (address.bytes === undefined && libc().errno() === C.EAFNOSUPPORT) {
    const v4 = libc().call.socket(C.AF_INET, SOCK_STREAM, 0);
    if (v4 >= 0) return { number: v4, family: C.AF_INET };
  }
  return fail(address, libc().errno());
}

function setOption(fd: number, level: number, option: number, value: number): void {
  libc().call.setsockopt(fd, level, option, Int32Array.of(value), 4);
}

function check(address: SocketAddress, result: number): void {
  if (result < 0) fail(address, libc().errno());
}

function fail(address: SocketAddress, errno: number): never {
  const [why, hint] = reasonOf(address, errno);
  throw new ProcsupError("start_failed", `socket "${address.text}" cannot be opened: ${why}`, {
    hint,
  });
}

function reasonOf({ port }: SocketAddress, errno: number): [string, string?] {
  switch (errno) {
    case C.EADDRINUSE:
      return [
        "the address is in use by another process",
        `To see which: ss -ltnp sport = ${port}`,
      ];
    case C.EADDRNOTAVAIL:
      return ["this machine has no such address"];
    case C.EAFNOSUPPORT:
      return ["this machine has no such kind of address"];
    case EACCES:
    case EPERM:
      return [port < 1024 ? "ports below 1024 need root" : "it is not permitted"];
    default:
      return [`error number ${errno}`];
  }
}

/** System call numbers of Linux, the same on every architecture. */
const PIDFD_OPEN = 434n;
const PIDFD_GETFD = 438n;

/** Descriptors of a process are searched below this number. */
const HIGHEST_FD = 256;

/**
 * A process's listening sockets of these addresses, as our own descriptors. Sockets that it lacks,
 * or that we may not take, are left out. The kernel requires the right to trace the process: root,
 * or the same user if `kernel.yama.ptrace_scope` is 0. Linux only.
 */
export function takeListeners(
  pid: number,
  addresses: readonly SocketAddress[],
): Map<SocketAddress, number> {
  const taken = new Map<SocketAddress, number>();
  if (!isLinux || addresses.length === 0) return taken;
  const { syscall } = libc().call;
  const pidfd = Number(syscall(PIDFD_OPEN, BigInt(pid), 0n, 0n));
  if (pidfd < 0) return taken;
  for (let fd = FIRST_FD; fd < HIGHEST_FD && taken.size < addresses.length; fd++) {
    const own = Number(syscall(PIDFD_GETFD, BigInt(pidfd), BigInt(fd), 0n));
    if (own < 0) {
      if (libc().errno() === EPERM) break;
      continue;
    }
    const address = addresses.find((one) => !taken.has(one) && listensOn(own, one));
    if (address === undefined) closeSocket(own);
    else taken.set(address, own);
  }
  closeSocket(pidfd);
  return taken;
}

function listensOn(fd: number, address: SocketAddress): boolean {
  const sockaddr = new Uint8Array(128);
  if (libc().call.getsockname(fd, sockaddr, Uint32Array.of(sockaddr.length)) < 0) return false;
  const listening = new Int32Array(1);
  libc().call.getsockopt(fd, C.SOL_SOCKET, C.SO_ACCEPTCONN, listening, Uint32Array.of(4));
  return listening[0] === 1 && isSockaddr(address, sockaddr);
}
