/**
 * The listening sockets of the processes: opened once, inherited by every instance, kept open here
 * between two instances, and recovered by the next daemon.
 */

import { ifPossible, ProcsupError, quote } from "../../model/errors.ts";
import { C, EACCES, EPERM, errno, IPPROTO_IPV6, openLibc, SOCK_STREAM } from "../libc.ts";
import { isLinux } from "../os.ts";

/** Where a socket listens. */
export interface SocketAddress {
  /** Its canonical form: `127.0.0.1:8080`, `[::1]:8080`, `:8080`. */
  readonly text: string;
  readonly port: number;
  /** 4 or 16 bytes in network order; undefined for every interface, IPv4 and IPv6. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** Maximum number of sockets of one app. */
const MAX_SOCKETS = 16;

/**
 * The addresses of a configuration. `localhost` is 127.0.0.1; `*:8080` and `:8080` are the same.
 * Throws `ProcsupError` `invalid_config` naming the one that is invalid or given twice.
 */
export function parseSockets(sockets: readonly string[]): SocketAddress[] {
  if (sockets.length > MAX_SOCKETS) {
    throw new ProcsupError(
      "invalid_config",
      `Invalid "sockets": at most ${MAX_SOCKETS} are possible`,
    );
  }
  const addresses = sockets.map(parseSocket);
  const seen = new Set<string>();
  for (const { text } of addresses) {
    if (seen.has(text)) refuse(text, "it is listed twice");
    seen.add(text);
  }
  return addresses;
}

function parseSocket(text: string): SocketAddress {
  const match = /^(?:(?<host>\[[^\]]*\]|[^:]*):)?(?<port>\d{1,5})$/.exec(text);
  if (match === null) return refuse(text, 'expected "address:port", "[ipv6]:port" or a port');
  const port = Number(match.groups!.port);
  if (port < 1 || port > 65535) return refuse(text, "expected a port from 1 to 65535");
  const host = match.groups!.host ?? "";
  if (host === "" || host === "*") return { text: `:${port}`, port, bytes: undefined };
  const bytes = host.startsWith("[") ? ipv6(host.slice(1, -1)) : ipv4(host);
  if (bytes === undefined) return refuse(text, "expected an IP address, localhost or nothing");
  return { text: `${hostText(bytes)}:${port}`, port, bytes };
}

function refuse(text: string, why: string): never {
  throw new ProcsupError("invalid_config", `Invalid "sockets" ${quote(text)}: ${why}`);
}

function ipv4(host: string): Uint8Array<ArrayBuffer> | undefined {
  if (host === "localhost") return Uint8Array.of(127, 0, 0, 1);
  const parts = /^\d{1,3}(\.\d{1,3}){3}$/.test(host) ? host.split(".").map(Number) : [];
  return parts.length === 4 && parts.every((part) => part < 256)
    ? Uint8Array.from(parts)
    : undefined;
}

function ipv6(host: string): Uint8Array<ArrayBuffer> | undefined {
  // The URL parser accepts every form and returns groups, with the longest gap shortened.
  if (!URL.canParse(`http://[${host}]/`)) return undefined;
  const [left = "", right] = new URL(`http://[${host}]/`).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined) => text ? text.split(":") : [];
  const [head, tail] = [groups(left), groups(right)];
  const gap = Array<string>(8 - head.length - tail.length).fill("0");
  const bytes = new Uint8Array(16);
  [...head, ...gap, ...tail].forEach((group, i) => {
    new DataView(bytes.buffer).setUint16(i * 2, parseInt(group, 16));
  });
  return bytes;
}

/** The bytes of an IP address, without brackets or zone; undefined for another text. */
export function addressBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  return text.includes(":") ? ipv6(text) : ipv4(text);
}

/** An IP address as text; one of IPv6 has brackets, and its longest run of zeros shortened. */
export function hostText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const view = new DataView(bytes.buffer);
  const groups = Array.from({ length: 8 }, (_, i) => view.getUint16(i * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]/`).hostname;
}

/** Whether a `sockaddr` has its length in the first byte. */
const hasLengthByte = C.SOL_SOCKET !== 1;

/** An address as `sockaddr`. Every interface is `::`, or `0.0.0.0` without IPv6. */
export function toSockaddr(address: SocketAddress, family: number): Uint8Array<ArrayBuffer> {
  const isV4 = family === C.AF_INET;
  const out = new Uint8Array(isV4 ? 16 : 28);
  if (hasLengthByte) out.set([out.length, family]);
  else out[0] = family;
  new DataView(out.buffer).setUint16(2, address.port);
  if (address.bytes !== undefined) out.set(address.bytes, isV4 ? 4 : 8);
  return out;
}

/** Whether a `sockaddr` is this address. */
export function isSockaddr(address: SocketAddress, sockaddr: Uint8Array): boolean {
  const family = hasLengthByte ? sockaddr[1] : sockaddr[0];
  if (family !== C.AF_INET && family !== C.AF_INET6) return false;
  if (address.bytes !== undefined && address.bytes.length !== (family === C.AF_INET ? 4 : 16)) {
    return false;
  }
  const expected = toSockaddr(address, family);
  // Flow and scope are ignored.
  const from = family === C.AF_INET ? 4 : 8;
  const to = family === C.AF_INET ? 8 : 24;
  return sockaddr[2] === expected[2] && sockaddr[3] === expected[3] &&
    sockaddr.subarray(from, to).every((byte, i) => byte === expected[from + i]);
}

/** The sockets of one process, shared by all its instances. */
export interface SharedSockets {
  /** The process's name without an instance's index. */
  readonly owner: string;
  readonly addresses: readonly SocketAddress[];
}

/** System calls of the pool; replaced in tests. */
export interface SocketCalls {
  open(address: SocketAddress, beside?: boolean): number;
  take(pid: number, addresses: readonly SocketAddress[]): Map<SocketAddress, number>;
  close(fd: number, everywhere?: boolean): void;
}

const KERNEL: SocketCalls = { open: openListener, take: takeListeners, close: closeSocket };

interface Held {
  readonly owner: string;
  readonly port: number;
  readonly fd: number;
}

export class SocketPool {
  readonly #held = new Map<string, Held>();
  /** Addresses held by running instances from which they could not be recovered, by owner. */
  readonly #elsewhere = new Map<string, string>();
  readonly #calls: SocketCalls;

  constructor(calls: SocketCalls = KERNEL) {
    this.#calls = calls;
  }

  /**
   * The descriptors of a process's sockets; opens those that are not open. Throws `ProcsupError`
   * `start_failed` naming the address and what is wrong with it.
   */
  descriptors({ owner, addresses }: SharedSockets): number[] {
    return addresses.map((address) => {
      const held = this.#held.get(address.text);
      if (held === undefined) return this.#open(owner, address);
      if (held.owner !== owner) {
        throw new ProcsupError("start_failed", foreign(address, held.owner));
      }
      return held.fd;
    });
  }

  /**
   * Recovers the sockets that an earlier supervisor gave to a running instance, each from the first
   * of `pids` that allows it. Returns the addresses that newly failed: the instance keeps serving
   * them, and the next launch opens another socket beside.
   */
  recover({ owner, addresses }: SharedSockets, pids: readonly number[]): string[] {
    for (const pid of pids) {
      const missing = addresses.filter(({ text }) => !this.#held.has(text));
      for (const [address, fd] of this.#take(pid, missing)) {
        this.#held.set(address.text, { owner, port: address.port, fd });
        this.#elsewhere.delete(address.text);
      }
    }
    const lost = addresses.map(({ text }) => text).filter((text) => !this.#held.has(text));
    const news = lost.filter((text) => !this.#elsewhere.has(text));
    for (const text of lost) this.#elsewhere.set(text, owner);
    return news;
  }

  /** Closes the sockets of a process except those that its instances are configured with. */
  drop(owner: string, used: ReadonlySet<string>): void {
    for (const [text, held] of [...this.#held]) {
      if (held.owner !== owner || used.has(text)) continue;
      this.#calls.close(held.fd, true);
      this.#held.delete(text);
    }
    for (const [text, name] of [...this.#elsewhere]) {
      if (name === owner && !used.has(text)) this.#elsewhere.delete(text);
    }
  }

  /** Closes all sockets. Instances keep theirs. */
  close(): void {
    for (const { fd } of this.#held.values()) this.#calls.close(fd);
    this.#held.clear();
  }

  /** Empty also if the C library may not be used. The instances keep serving. */
  #take(pid: number, missing: readonly SocketAddress[]): Map<SocketAddress, number> {
    return ifPossible(() => this.#calls.take(pid, missing)) ?? new Map();
  }

  #open(owner: string, address: SocketAddress): number {
    const fd = this.#openAnyhow(owner, address);
    this.#held.set(address.text, { owner, port: address.port, fd });
    this.#elsewhere.delete(address.text);
    return fd;
  }

  #openAnyhow(owner: string, address: SocketAddress): number {
    try {
      return this.#calls.open(address);
    } catch (error) {
      if (!this.#mayOpenBeside(owner, address)) throw error;
      return this.#calls.open(address, true);
    }
  }

  /** Whether the address is in use by the process itself: such as `:80` after `127.0.0.1:80`. */
  #mayOpenBeside(owner: string, { text, port }: SocketAddress): boolean {
    return this.#elsewhere.get(text) === owner ||
      [...this.#held.values()].some((held) => held.owner === owner && held.port === port);
  }
}

/** Why a socket is refused: it belongs to another process. */
export function foreign({ text }: SocketAddress, owner: string): string {
  return `socket "${text}" belongs to "${owner}"`;
}

/**
 * Variables of an app with sockets: `LISTEN_FDS` and `LISTEN_FDNAMES` (the ports, in order).
 * `LISTEN_PID` is set by the wrapper, which knows the pid.
 */
export function socketEnv({ addresses }: SharedSockets): Record<string, string> {
  return {
    LISTEN_FDS: String(addresses.length),
    LISTEN_FDNAMES: addresses.map(({ port }) => port).join(":"),
  };
}

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  // Two arguments are enough. arm64 macOS passes variadic ones in another way.
  ioctl: { parameters: ["i32", "u64"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  poll: { parameters: ["buffer", "usize", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  syscall: { parameters: ["i64", "i64", "i64", "i64"], result: "i64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Throws if the C library cannot be loaded. */
function libc(): Deno.StaticForeignLibraryInterface<typeof SYMBOLS> {
  return openLibc(SYMBOLS);
}

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
    check(address, libc().ioctl(fd.number, C.FIOCLEX));
    setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEADDR, 1);
    if (fd.family === C.AF_INET6) {
      setOption(fd.number, IPPROTO_IPV6, C.IPV6_V6ONLY, address.bytes === undefined ? 0 : 1);
    }
    if (beside) setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEPORT, 1);
    const sockaddr = toSockaddr(address, fd.family);
    check(address, libc().bind(fd.number, sockaddr, sockaddr.length));
    // After the bind: set before it, another program with this option could share the port.
    setOption(fd.number, C.SOL_SOCKET, C.SO_REUSEPORT, 1);
    check(address, libc().listen(fd.number, BACKLOG));
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
  if (everywhere) libc().shutdown(fd, SHUT_RDWR);
  libc().close(fd);
}

const POLLIN = 1;

/** Whether a client of a listening socket waits to be accepted. */
export function hasClient(fd: number): boolean {
  const asked = new DataView(new ArrayBuffer(8));
  asked.setInt32(0, fd, true);
  asked.setInt16(4, POLLIN, true);
  return libc().poll(asked.buffer, 1n, 0) > 0 && (asked.getInt16(6, true) & POLLIN) !== 0;
}

function newSocket(address: SocketAddress): { number: number; family: number } {
  const family = address.bytes?.length === 4 ? C.AF_INET : C.AF_INET6;
  const number = libc().socket(family, SOCK_STREAM, 0);
  if (number >= 0) return { number, family };
  if (address.bytes === undefined && errno() === C.EAFNOSUPPORT) {
    const v4 = libc().socket(C.AF_INET, SOCK_STREAM, 0);
    if (v4 >= 0) return { number: v4, family: C.AF_INET };
  }
  return fail(address, errno());
}

function setOption(fd: number, level: number, option: number, value: number): void {
  libc().setsockopt(fd, level, option, Int32Array.of(value), 4);
}

function check(address: SocketAddress, result: number): void {
  if (result < 0) fail(address, errno());
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
  const { syscall } = libc();
  const pidfd = Number(syscall(PIDFD_OPEN, BigInt(pid), 0n, 0n));
  if (pidfd < 0) return taken;
  for (let fd = FIRST_FD; fd < HIGHEST_FD && taken.size < addresses.length; fd++) {
    const own = Number(syscall(PIDFD_GETFD, BigInt(pidfd), BigInt(fd), 0n));
    if (own < 0) {
      if (errno() === EPERM) break;
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
  if (libc().getsockname(fd, sockaddr, Uint32Array.of(sockaddr.length)) < 0) return false;
  const listening = new Int32Array(1);
  libc().getsockopt(fd, C.SOL_SOCKET, C.SO_ACCEPTCONN, listening, Uint32Array.of(4));
  return listening[0] === 1 && isSockaddr(address, sockaddr);
}
