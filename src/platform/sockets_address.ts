/** Addresses of shared sockets: `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `8080` for every interface. */

import { ProcsupError, quote } from "../model/errors.ts";
import { C } from "./libc.ts";

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

function hostText(bytes: Uint8Array): string {
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
