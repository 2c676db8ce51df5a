/** Finds out when a client connects to sockets that nothing accepts from yet. */

import type { Cancel } from "../clock.ts";
import { hasClient, type SharedSockets, type SocketPool } from "./sockets.ts";

const INTERVAL_MS = 100;

/** One timer checks all sockets: each timer wakes the daemon. */
export class ClientWatch {
  readonly #sockets: SocketPool;
  /** Functions that check the sockets of apps that wait for a client. */
  readonly #checks = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(sockets: SocketPool) {
    this.#sockets = sockets;
  }

  /** See `World.awaitConnection()`. */
  watch(
    sockets: SharedSockets,
    act: (address: string) => void,
    failed: (error: unknown) => void,
  ): Cancel {
    const check = () => {
      try {
        const at = this.#sockets.descriptors(sockets).findIndex(hasClient);
        if (at < 0) return;
        stop();
        act(sockets.addresses[at]!.text);
      } catch (error) {
        stop();
        failed(error);
      }
    };
    const stop = () => {
      this.#checks.delete(check);
      if (this.#checks.size === 0) clearInterval(this.#timer);
    };
    if (this.#checks.size === 0) {
      this.#timer = setInterval(() => this.#checks.forEach((check) => check()), INTERVAL_MS);
    }
    this.#checks.add(check);
    check();
    return stop;
  }

  close(): void {
    this.#checks.clear();
    clearInterval(this.#timer);
  }
}
