/** An accepted connection as a stream for node:http. */

import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import type { Connection } from "./connections.ts";

const READ_BYTES = 8 * 1024;

type Done = (error?: Error | null) => void;

/** The stream of a connection, with the parts of a `Socket` that node:http and ws use. */
export class ConnectionStream extends Duplex implements Connection {
  readonly remoteAddress: string;
  readonly encrypted: boolean;
  readonly #connection: Deno.Conn;
  readonly #buffer = new Uint8Array(READ_BYTES);
  #sent = 0;
  #idleMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Deno.TcpConn | Deno.TlsConn) {
    super({ allowHalfOpen: true });
    this.#connection = connection;
    this.encrypted = "handshake" in connection;
    this.remoteAddress = connection.remoteAddr.hostname;
  }

  /** Bytes written so far, including those that wait. */
  get bytesWritten(): number {
    return this.#sent + this.writableLength;
  }

  /** Emits `timeout` if nothing arrives for `ms`; 0 disables it. */
  setTimeout(ms: number, act?: () => void): this {
    if (act !== undefined) this.once("timeout", act);
    this.#idleMs = ms;
    this.#restartTimer();
    return this;
  }

  /** Ends the connection after everything written was sent. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    this.#connection.read(this.#buffer).then((size) => {
      if (this.#idleMs > 0) this.#restartTimer();
      this.push(size === null ? null : this.#buffer.slice(0, size));
    }).catch((error) => this.destroy(error));
  }

  override _write(bytes: Uint8Array, _encoding: string, done: Done): void {
    this.#send(bytes).then(() => done(), done);
  }

  override _writev(all: { chunk: Uint8Array }[], done: Done): void {
    this.#send(Buffer.concat(all.map(({ chunk }) => chunk))).then(() => done(), done);
  }

  override _final(done: Done): void {
    this.#connection.closeWrite().then(() => done(), () => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer);
    this.#connection.close();
    done(error);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const size = await this.#connection.write(bytes.subarray(at));
      at += size;
      this.#sent += size;
    }
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    const { destroyed } = this;
    this.#timer = this.#idleMs > 0 && !destroyed
      ? setTimeout(() => this.emit("timeout"), this.#idleMs)
      : undefined;
  }
}
