/**
 * The listening sockets of the processes: opened once, inherited by every instance, kept open here
 * between two instances, and recovered by the next daemon.
 */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import type { SocketAddress } from "./sockets_address.ts";
import { closeSocket, openListener, takeListeners } from "./sockets_open.ts";

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

/** The shell line that sets `LISTEN_PID`. */
export const LISTEN_PID_LINE = "export LISTEN_PID=$procsup_pid";
