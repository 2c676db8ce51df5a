// Types of exactly what we use from the standard library while its names are bound to the npm
// repack, which ships JavaScript only. Bound to `jsr:@std/…`, this file is not needed.

declare module "@std/assert" {
  export function assert(value: unknown, message?: string): asserts value;
  export function assertEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertStringIncludes(actual: string, expected: string, message?: string): void;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    // deno-lint-ignore no-explicit-any
    errorClass?: new (...args: any[]) => E,
    includes?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    // deno-lint-ignore no-explicit-any
    errorClass?: new (...args: any[]) => E,
    includes?: string,
  ): Promise<E>;
}

declare module "@std/fs/walk" {
  export function walkSync(
    root: string,
    options?: {
      readonly includeDirs?: boolean;
      readonly exts?: readonly string[];
      readonly skip?: readonly RegExp[];
    },
  ): Iterable<{ readonly path: string; readonly isFile: boolean }>;
}

// The parts that we use of `ws`, which has no types either.
declare module "ws" {
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
}

declare module "send" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface Sending {
    on(event: "error", act: (error: { readonly status: number }) => void): Sending;
    pipe(response: ServerResponse): ServerResponse;
  }
  export default function send(
    request: IncomingMessage,
    path: string,
    options: { index: false; dotfiles: "allow" },
  ): Sending;
}
