/** What we use of the package `ws`, which has no types. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export interface WebSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** Names of the extensions that both sides know. */
  readonly extensions: string;
  send(
    data: string | Uint8Array,
    options: { binary: boolean },
    done: (error?: unknown) => void,
  ): void;
  ping(): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  removeAllListeners(event: "message"): void;
  on(event: "message", listener: (data: unknown, isBinary: boolean) => void): this;
  on(event: "pong" | "close" | "error", listener: () => void): this;
  once(event: "message", listener: (data: unknown, isBinary: boolean) => void): this;
  once(event: "close", listener: () => void): this;
}

export class WebSocketServer {
  constructor(options: {
    noServer: true;
    maxPayload?: number;
    perMessageDeflate?: {
      readonly serverNoContextTakeover?: boolean;
      readonly clientNoContextTakeover?: boolean;
      /** False refuses to compress with a smaller window. */
      readonly serverMaxWindowBits?: false;
      /** Length in bytes from which it compresses messages. */
      readonly threshold?: number;
    };
    clientTracking?: boolean;
    closeTimeout?: number;
  });
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
    done: (socket: WebSocket) => void,
  ): void;
}

/** Writes frames, among those of the socket's `WebSocket`. */
export class Sender {
  constructor(socket: Duplex);
  static frame(
    data: Uint8Array,
    options: {
      readonly fin: boolean;
      readonly rsv1: boolean;
      readonly opcode: number;
      readonly mask: boolean;
      readonly readOnly: boolean;
    },
  ): readonly Uint8Array[];
  sendFrame(frame: readonly Uint8Array[], done: (error?: unknown) => void): void;
}
