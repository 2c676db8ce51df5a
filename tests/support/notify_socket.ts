/** The receiver of sd_notify(3). Uses libc: Deno's datagram sockets need `--unstable-net`. */

import { waitFor } from "./wait_for.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

/** Listens on a path, or on an abstract name (`@…`). Linux only. */
export class NotifySocket implements Disposable {
  readonly #libc = Deno.dlopen("libc.so.6", {
    socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
    bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
    recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
  });
  readonly #fd: number;
  /** All messages received so far. */
  readonly heard: string[] = [];

  constructor(address: string) {
    const path = new TextEncoder().encode(address);
    const bytes = new Uint8Array(2 + path.length + (address.startsWith("@") ? 0 : 1));
    bytes[0] = AF_UNIX;
    bytes.set(path, 2);
    if (address.startsWith("@")) bytes[2] = 0;
    this.#fd = this.#libc.symbols.socket(AF_UNIX, SOCK_DGRAM, 0);
    const bound = this.#libc.symbols.bind(this.#fd, bytes, bytes.length);
    if (bound !== 0) throw new Error(`Cannot listen on ${address}`);
  }

  /** Waits for the message `text`. */
  async hears(text: string): Promise<void> {
    await waitFor(() => {
      this.read();
      return this.heard.includes(text);
    }, { what: `"${text}" to be said` });
  }

  /** Reads pending messages. */
  read(): string[] {
    const buffer = new Uint8Array(4096);
    for (;;) {
      const size = Number(this.#libc.symbols.recv(this.#fd, buffer, 4096n, MSG_DONTWAIT));
      if (size < 0) return this.heard;
      this.heard.push(new TextDecoder().decode(buffer.subarray(0, size)));
    }
  }

  [Symbol.dispose](): void {
    this.#libc.symbols.close(this.#fd);
    this.#libc.close();
  }
}
