/** What we use of the package `ws`, which has no types. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export interface WebSocket {
  readonly readyState: number;
  readonly OPEN: number;
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
    perMessageDeflate?: boolean;
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
