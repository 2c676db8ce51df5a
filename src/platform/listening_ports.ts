/**
 * The listening ports of process trees, and who listens on one. Read on demand, since it inspects
 * every descriptor.
 */

import { ifPossible } from "../model/errors.ts";
import { isLocal, type ListenAddress, withoutBrackets } from "../model/listen_address.ts";
import { comesTrue } from "./clock.ts";
import { isLinux } from "./os.ts";
import { descriptorsOf, linkOf, processRow, processTableIfReadable } from "./process_table.ts";
import { hostText } from "./sockets.ts";
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
  const sockets = listeningSockets();
  if (sockets.size === 0) return found;
  for (const [root, rows] of treesOf(new Set(roots), processTableIfReadable())) {
    const inodes = new Set(rows.flatMap(({ pid }) => socketsOf(pid)));
    const ports = [...inodes].flatMap((inode) => sockets.get(inode) ?? []);
    if (ports.length > 0) found.set(root, ports.sort((a, b) => a.port - b.port));
  }
  return found;
}

/** Whether anything on this machine listens on a port. */
export function isListenedOn(port: number): boolean {
  return isLinux && [...listeningSockets().values()].some((one) => one.port === port);
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

/** Parses `0100007F:1F90`. Within each 32 bits the bytes are reversed. */
export function localAddress(text: string): ListeningPort {
  const [hex = "", port = "0"] = text.split(":");
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    word.match(/../g)!.reverse().map((byte) => parseInt(byte, 16))
  );
  const address = withoutBrackets(hostText(Uint8Array.from(bytes)));
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
  } catch {
    // No such table: a kernel without IPv6.
  }
}

function fieldsOf(line: string): string[] {
  return line.trim().split(/\s+/);
}

/** The sockets of a process; empty if it has ended or belongs to another user. */
function socketsOf(pid: number): string[] {
  return descriptorsOf(pid).map(linkOf).filter((link) => link.startsWith("socket:"));
}

/**
 * Readiness must not be another process's answer: true if a process of the group may hold an address.
 * False only if another process of this machine certainly listens there.
 */
export function mayBelongTo({ hostname, port }: ListenAddress, pgid: number): boolean {
  if (!isLinux || !isHere(hostname)) return true;
  const sockets = socketsOn(port);
  return sockets.length === 0 || mayHold(pgid, sockets);
}

function socketsOn(port: number): string[] {
  return [...listeningSockets()].filter(([, held]) => held.port === port).map(([name]) => name);
}

/** Connections of one look, and how long each may wait to be accepted. */
const TRIES = 4;
const ACCEPT_MS = 1000;
const LOOK_MS = 5;

/**
 * True if a process of the group serves a socket that it shares with other instances: it waits for
 * connections by epoll, or accepts a test connection. True also if that cannot be found out.
 */
export async function accepts(
  { hostname, port }: ListenAddress,
  pgid: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isLinux || !isHere(hostname)) return true;
  const sockets = new Set(socketsOn(port));
  // With EPOLLEXCLUSIVE the oldest instance would accept every connection of an idle service.
  if (membersOf(pgid).some((pid) => polledBy(pid).some((socket) => sockets.has(socket)))) {
    return true;
  }
  for (let left = TRIES; left > 0; left--) {
    using connection = await Deno.connect({ hostname, port, signal });
    const { port: from } = connection.localAddr as Deno.NetAddr;
    let socket: string | undefined;
    const isAccepted = () => (socket = otherEnd(from, port)) !== NOT_ACCEPTED;
    const isKnown = await comesTrue(isAccepted, { ms: ACCEPT_MS, everyMs: LOOK_MS });
    if (!isKnown || socket === undefined || mayHold(pgid, [socket])) return true;
  }
  return false;
}

const NOT_ACCEPTED = "socket:[0]";

/** The socket of a server for a connection of this machine, as `listeningSockets()` names it. */
function otherEnd(from: number, to: number): string | undefined {
  const [near, far] = [to, from].map((port) => `:${hex(port)}`);
  for (const file of TABLES) {
    // A busy server has thousands of connections.
    for (const line of linesOf(file)) {
      if (!line.includes(far!)) continue;
      const fields = fieldsOf(line);
      if (fields[1]!.endsWith(near!) && fields[2]!.endsWith(far!)) return `socket:[${fields[9]}]`;
    }
  }
  return undefined;
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** Whether a process of a group, or a descendant, has one of these sockets; true if unknown. */
function mayHold(pgid: number, sockets: readonly string[]): boolean {
  const members = membersOf(pgid);
  return members.length === 0 || members.some((pid) => mayHave(pid, sockets));
}

function mayHave(pid: number, sockets: readonly string[]): boolean {
  const links = descriptorsOf(pid).map(linkOf);
  // Hidden: a program with capabilities, or another user's in a container without CAP_SYS_PTRACE.
  if (links.every((link) => link === "")) return processRow(pid)?.zombie === false;
  return links.some((link) => sockets.includes(link));
}

/** The leader of a group, its other processes, and descendants that left it; empty if unknown. */
function membersOf(pgid: number): number[] {
  const table = processTableIfReadable();
  if (table.length === 0) return [];
  const others = treesOf(new Set([pgid]), table).get(pgid) ?? [];
  return [pgid, ...others.map(({ pid }) => pid)];
}

/** The sockets that a process waits for by epoll. */
function polledBy(pid: number): string[] {
  const polls = descriptorsOf(pid).filter((path) => linkOf(path) === "anon_inode:[eventpoll]");
  return polls.flatMap((path) => {
    const info = ifPossible(() => Deno.readTextFileSync(path.replace("/fd/", "/fdinfo/"))) ?? "";
    return [...info.matchAll(/ ino:([0-9a-f]+)/g)].map(([, ino]) =>
      `socket:[${parseInt(ino!, 16)}]`
    );
  });
}

/** Whether an address is one of this machine. A name other than localhost may be any machine's. */
function isHere(hostname: string): boolean {
  return isLocal(hostname) ||
    Deno.networkInterfaces().some(({ address }) => address === hostname);
}
