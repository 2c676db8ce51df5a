/**
 * Takes connections. Neither Deno.serve nor node:http accepts any more once there was no descriptor
 * for a connection: here that is a pause.
 */

import { messageOf } from "../model/errors.ts";
import { sleep } from "../platform/clock.ts";
import { ConnectionStream } from "./connection_stream.ts";

const PAUSE_MS = 100;

/** What becomes of connections. */
export interface Acceptor {
  take(connection: ConnectionStream): void;
  /** No descriptor is left for the next one. */
  full(): void;
  readonly warn: (message: string) => void;
}

/** Takes connections until the listener is closed. */
export async function accept(
  listener: Deno.TcpListener | Deno.TlsListener,
  { take, full, warn }: Acceptor,
): Promise<void> {
  let isTold = false;
  for (;;) {
    try {
      take(new ConnectionStream(await listener.accept()));
      isTold = false;
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
        return;
      }
      if (!isTold) warn(`Web: cannot take connections: ${messageOf(error)}`);
      isTold = true;
      full();
      await sleep(PAUSE_MS);
    }
  }
}
