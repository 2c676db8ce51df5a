/**
 * Takes connections. Neither Deno.serve nor node:http accepts any more once there was no descriptor
 * for a connection; here that is a pause.
 */

import { messageOf } from "../model/errors.ts";
import { sleep } from "./clock.ts";
import { openFilesLimit } from "./ulimits.ts";

const PAUSE_MS = 100;
const WARN_EVERY_MS = 60_000;

/** What becomes of connections. */
export interface Acceptor<C> {
  /** The next connection waits for this. */
  readonly room?: () => Promise<void>;
  readonly take: (connection: C) => void;
  /** No descriptor is left for the next one. */
  readonly full?: () => void;
  readonly warn: (message: string) => void;
}

/** Takes connections until the listener is closed. */
export async function accept<C>(
  listener: { accept(): Promise<C> },
  { room, take, full, warn }: Acceptor<C>,
): Promise<void> {
  let told = -Infinity;
  for (;;) {
    try {
      await room?.();
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
        return;
      }
      if (performance.now() - told > WARN_EVERY_MS) {
        warn(`Cannot take connections: ${messageOf(error)}`);
        told = performance.now();
      }
      full?.();
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * How many connections one listener may have: a sixth of the descriptors. There are two listeners, and
 * the daemon needs the others for its files and its apps.
 */
export function mostConnections(): number {
  return Math.min(Math.max(Math.floor(openFilesLimit() / 6), 4), 2048);
}
