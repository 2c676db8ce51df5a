/**
 * Looks up one TCP connection of this machine in the kernel, by sock_diag(7). A look takes 0.1 ms;
 * to read the kernel's tables takes as long for every 30 connections, closed ones included.
 */

import { C, mayCallC, openLibc } from "../libc.ts";

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0x80000;
const NETLINK_SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
const NLM_F_REQUEST = 1;
const IPPROTO_TCP = 6;
/** The answer is there when the request is sent. */
const MSG_DONTWAIT = 0x40;

const LISTENING = 10;

const CALLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

/** One end of a connection: 4 or 16 bytes in network order. */
export interface End {
  readonly address: Uint8Array;
  readonly port: number;
}

/** A socket as the kernel has it. */
export interface FoundSocket {
  /** As in `/proc/net/tcp`. */
  readonly state: number;
  /** 0: no process has it. */
  readonly inode: number;
}

/**
 * The socket at the end `near` of a connection; null if there is none, and undefined if the kernel
 * does not tell.
 */
export function findSocket(near: End, far: End): FoundSocket | null | undefined {
  if (!mayCallC()) return undefined;
  const libc = openLibc(CALLS);
  const socket = libc.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (socket < 0) return undefined;
  try {
    const request = requestFor(near, far);
    const answer = new Uint8Array(1024);
    if (libc.send(socket, request, BigInt(request.length), 0) < 0n) return undefined;
    const length = Number(libc.recv(socket, answer, BigInt(answer.length), MSG_DONTWAIT));
    return length < 0 ? undefined : parseAnswer(new DataView(answer.buffer, 0, length));
  } finally {
    libc.close(socket);
  }
}

/** A `struct nlmsghdr` and a `struct inet_diag_req_v2`. Every system of Deno is little-endian. */
function requestFor(near: End, far: End): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(72);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, SOCK_DIAG_BY_FAMILY, true);
  view.setUint16(6, NLM_F_REQUEST, true);
  bytes[16] = near.address.length === 4 ? C.AF_INET : C.AF_INET6;
  bytes[17] = IPPROTO_TCP;
  view.setUint16(24, near.port);
  view.setUint16(26, far.port);
  bytes.set(near.address, 28);
  bytes.set(far.address, 44);
  // No cookie.
  bytes.fill(0xff, 64);
  return bytes;
}

/** A `struct nlmsghdr` and a `struct inet_diag_msg`. */
function parseAnswer(view: DataView): FoundSocket | null | undefined {
  if (view.byteLength < 88 || view.getUint16(4, true) !== SOCK_DIAG_BY_FAMILY) return undefined;
  const state = view.getUint8(17);
  // Without such a connection the kernel finds who listens there.
  if (state === LISTENING) return null;
  return { state, inode: view.getUint32(84, true) };
}
