/**
 * Accepts connections. Deno.serve and node:http stop for good once no descriptor is left for a
 * connection; this pauses instead.
 */

import { messageOf } from "../../model/errors.ts";
import { sleep } from "../clock.ts";
import { openFilesLimit } from "../launch/ulimits.ts";

const PAUSE_MS = 100;
const WARN_EVERY_MS = 60_000;

interface Acceptor<C> {
  /** Awaited before each connection. */
  readonly room?: () => Promise<void>;
  readonly take: (connection: C) => void;
  /** Called when no descriptor is left for the next connection. */
  readonly full?: () => void;
  readonly warn: (message: string) => void;
}

/** Takes connections until the listener is closed. */
export async function accept<C>(
  listener: { accept(): Promise<C> },
  { room, take, full, warn }: Acceptor<C>,
): Promise<void> {
  let warnedAt = -Infinity;
  for (;;) {
    try {
      await room?.();
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
        return;
      }
      if (performance.now() - warnedAt > WARN_EVERY_MS) {
        warn(`Cannot take connections: ${messageOf(error)}`);
        warnedAt = performance.now();
      }
      full?.();
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Limit of connections per listener: a sixth of the descriptors. The daemon has two listeners, and
 * needs the rest for its files and its apps.
 */
export function mostConnections(): number {
  return Math.min(Math.max(Math.floor(openFilesLimit() / 6), 4), 2048);
}
