/**
 * The listening ports of process trees, and the other ends of connections, from the kernel's tables.
 * Read on demand, since it inspects every descriptor.
 */

import { ifPossible } from "../../model/errors.ts";
import { isLoopback, withoutBrackets } from "../../model/listen_address.ts";
import { isLack } from "../lack.ts";
import { isLinux } from "../os.ts";
import { descriptorsOf, linkOf, nameOf, procPids, recentProcessTable } from "./process_table.ts";
import { runIdOf } from "./process_environment.ts";
import { addressBytes, hostText, type SocketAddress } from "../sockets/sockets.ts";
import { findSocket, type FoundSocket } from "./socket_diag.ts";
import { treesOf } from "./usage.ts";

/** A TCP socket that waits for connections. */
interface ListeningPort {
  readonly port: number;
  /** `127.0.0.1`, `::`, … */
  readonly address: string;
}

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTEN = "0A";

/** Bytes of a table read at a time. */
const PIECE_BYTES = 16 * 1024;

/** The ports of the trees below `roots` (pids of group leaders), lowest first; none where there is no /proc. */
export function listeningPorts(roots: Iterable<number>): Map<number, ListeningPort[]> {
  const found = new Map<number, ListeningPort[]>();
  if (!isLinux) return found;
  const sockets = ifPossible(listeningSockets);
  if (sockets === undefined || sockets.size === 0) return found;
  const table = ifPossible(recentProcessTable) ?? [];
  for (const [root, rows] of treesOf(new Set(roots), table)) {
    const inodes = new Set(rows.flatMap(({ pid }) => socketsOf(pid)));
    const ports = [...inodes].flatMap((inode) => sockets.get(inode) ?? []);
    if (ports.length > 0) found.set(root, ports.sort((a, b) => a.port - b.port));
  }
  return found;
}

/** Whether anything on this machine listens on a port. */
export function isListenedOn(port: number): boolean {
  return isLinux && (ifPossible(() => listenersOn(port)) ?? []).length > 0;
}

/** All listening sockets of the machine, by `socket:[inode]`, the link target of descriptors. */
function listeningSockets(): Map<string, ListeningPort> {
  const sockets = new Map<string, ListeningPort>();
  for (const file of TABLES) {
    for (const line of linesOf(file)) {
      const fields = fieldsOf(line);
      // Listening sockets come first; millions of connections may follow.
      if (fields[3] !== LISTEN) break;
      sockets.set(`socket:[${fields[9]}]`, localAddress(fields[1]!));
    }
  }
  return sockets;
}

/** Parses `0100007F:1F90`. Within each 32 bits the bytes are reversed. IPv4 in IPv6 becomes IPv4. */
export function localAddress(text: string): ListeningPort {
  const [hex = "", port = "0"] = text.split(":");
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    word.match(/../g)!.reverse().map((byte) => parseInt(byte, 16))
  );
  const address = canonicalHost(withoutBrackets(hostText(Uint8Array.from(bytes))));
  return { port: parseInt(port, 16), address };
}

/** The lines of a table below its heading, read on demand. */
function* linesOf(path: string): Generator<string> {
  try {
    using file = Deno.openSync(path);
    const piece = new Uint8Array(PIECE_BYTES);
    const decoder = new TextDecoder();
    let rest = "";
    let isHeading = true;
    for (let length; (length = file.readSync(piece)) !== null;) {
      const lines = (rest + decoder.decode(piece.subarray(0, length))).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (isHeading) isHeading = false;
        else yield line;
      }
    }
  } catch (error) {
    if (isLack(error)) throw error;
    // No such table: a kernel without IPv6.
  }
}

function fieldsOf(line: string): string[] {
  return line.trim().split(/\s+/);
}

/** The sockets of a process; empty if it has ended or belongs to another user. */
function socketsOf(pid: number, within = Infinity): string[] {
  const first = descriptorsOf(pid).slice(0, within);
  return first.map(linkOf).filter((link) => link.startsWith("socket:"));
}

/** The listening sockets of a port, as `socket:[inode]`. Throws for lack of a descriptor. */
export function listenersOn(port: number): string[] {
  return [...listeningSockets()].filter(([, held]) => held.port === port).map(([name]) => name);
}

/** Descriptors of a process among which a listening socket is looked for. */
const LISTENER_WITHIN = 1000;

/** The listening sockets that processes have, as `socket:[inode]`; none if they cannot be read. */
export function listenersOf(pids: readonly number[]): ReadonlySet<string> {
  const open = new Set(pids.flatMap((pid) => socketsOf(pid, LISTENER_WITHIN)));
  // The tables of the whole machine are read only for processes that have sockets.
  const all = open.size === 0 ? undefined : ifPossible(listeningSockets);
  return open.intersection(all ?? new Set());
}

/** A process that listens on a port. */
export interface Listener {
  readonly pid: number;
  /** See `nameOf()`. */
  readonly name: string;
  readonly port: number;
  /** `socket:[inode]`. */
  readonly socket: string;
}

/** The processes that still have one of these sockets, except sockets that an app or we have, too. */
export function stillListening(sockets: ReadonlySet<string>): readonly Listener[] {
  const all = sockets.size === 0 ? undefined : ifPossible(listeningSockets);
  const left = new Map([...all ?? []].filter(([socket]) => sockets.has(socket)));
  const found = new Map<string, Listener>();
  if (left.size === 0) return [];
  for (const pid of procPids()) {
    for (const socket of socketsOf(pid)) {
      const port = left.get(socket)?.port;
      if (port === undefined) continue;
      if (pid === Deno.pid || runIdOf(pid)) left.delete(socket);
      else if (!found.has(socket)) found.set(socket, { pid, name: nameOf(pid), port, socket });
    }
  }
  return [...found.values()].filter(({ socket }) => left.has(socket));
}

/** Why connections cannot be counted here, as the end of a sentence. */
export function connectionsProblem(): string | undefined {
  return isLinux ? undefined : "needs Linux";
}

const ESTABLISHED_TEXT = "01";
const TIME_WAIT = "06";

/** How long the side that closes a connection first keeps it, and the unit of that timer. */
const REMEMBERED_MS = 60_000;
const TICK_MS = 10;

/**
 * Milliseconds since a client was connected to one of these addresses: 0 if one is, and Infinity if
 * none was within the last minute. A connection that the other side closed first, from another
 * machine, is seen only while it lasts.
 */
export function unusedForMs(addresses: readonly SocketAddress[]): number {
  const ends = addresses.map(({ port, bytes }) => {
    const host = bytes && canonicalHost(withoutBrackets(hostText(bytes)));
    return { suffix: `:${hex(port)}`, host };
  });
  const isOurs = (text: string) =>
    ends.some(({ suffix, host }) =>
      text.endsWith(suffix) && (host === undefined || localAddress(text).address === host)
    );
  let least = Infinity;
  for (const file of TABLES) {
    for (const line of linesOf(file)) {
      // Most connections are of other programs.
      if (!ends.some(({ suffix }) => line.includes(suffix))) continue;
      const [, local = "", remote = "", state, , timer = ""] = fieldsOf(line);
      if (state === ESTABLISHED_TEXT && isOurs(local)) return 0;
      if (state !== TIME_WAIT || !isOurs(local) && !isOurs(remote)) continue;
      const left = parseInt(timer.split(":")[1]!, 16) * TICK_MS;
      least = Math.min(least, Math.max(0, REMEMBERED_MS - left));
    }
  }
  return least;
}

/** The end of a connection that another process of this machine holds. */
interface OtherEnd {
  /** `socket:[inode]`; undefined before it is accepted, and after it is closed. */
  readonly socket: string | undefined;
  readonly isEstablished: boolean;
}

const ESTABLISHED = 1;

/**
 * The other end of a connection within this machine; undefined if the kernel does not have it. Throws
 * for lack of a descriptor.
 */
export function otherEnd(connection: Deno.TcpConn): OtherEnd | undefined {
  const [near, far] = [connection.remoteAddr, connection.localAddr].map(({ hostname, port }) => {
    const address = addressBytes(hostname);
    return address && { address, port };
  });
  const found = near && far && findSocket(near, far);
  if (found === undefined) return otherEndInTables(connection);
  return found === null ? undefined : endOf(found);
}

function endOf({ state, inode }: FoundSocket): OtherEnd {
  const socket = inode === 0 ? undefined : `socket:[${inode}]`;
  return { socket, isEstablished: state === ESTABLISHED };
}

/** The same, slower, where the kernel cannot be asked for one connection. */
export function otherEndInTables({ localAddr, remoteAddr }: Deno.TcpConn): OtherEnd | undefined {
  const [near, far] = [remoteAddr, localAddr].map(({ port }) => `:${hex(port)}`);
  const [here, there] = [remoteAddr, localAddr].map(({ hostname }) => canonicalHost(hostname));
  for (const file of TABLES) {
    // A busy server has thousands of connections.
    for (const line of linesOf(file)) {
      if (!line.includes(far!)) continue;
      const [, local = "", remote = "", state = "", , , , , , inode] = fieldsOf(line);
      if (!local.endsWith(near!) || !remote.endsWith(far!)) continue;
      if (localAddress(local).address !== here || localAddress(remote).address !== there) continue;
      return endOf({ state: parseInt(state, 16), inode: Number(inode) });
    }
  }
  return undefined;
}

/** The same text for each spelling of an address; IPv4 in IPv6 becomes IPv4. */
function canonicalHost(hostname: string): string {
  if (!hostname.includes(":")) return hostname;
  const text = new URL(`http://[${hostname.replace(/%.*/, "")}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(text);
  if (mapped === null) return text;
  const [high, low] = mapped.slice(1).map((part) => parseInt(part, 16)) as [number, number];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** Whether an IP address is one of this machine. */
export function isHere(address: string): boolean {
  const host = canonicalHost(address);
  return isLoopback({ hostname: host }) ||
    Deno.networkInterfaces().some((one) => canonicalHost(one.address) === host);
}
