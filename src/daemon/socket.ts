/** The daemon's Unix socket, bound so that it is never open to others and never unlinks its successor's. */

import type { HomePaths } from "../platform/paths.ts";
import { removeFile } from "../platform/atomic_file.ts";
import { sleep } from "../platform/clock.ts";

/** A server on the home's socket. */
export interface SocketServer {
  /**
   * Takes no more requests, gives those under way a moment and removes the socket. Only while the
   * lock is held. A stream that a client keeps open ends with the process.
   */
  close(): Promise<void>;
}

/** How long requests under way may take when the server closes. */
const CLOSE_PATIENCE_MS = 300;

/**
 * Serves on the home's socket. It is bound beside its place, made private and renamed over whatever a
 * killed daemon left there: a closing server unlinks the path it was bound to, not this one.
 */
export function serveSocket(
  paths: HomePaths,
  handler: (request: Request) => Response | Promise<Response>,
): SocketServer {
  const bound = `${paths.home}/sock.${Deno.pid}`;
  removeFile(bound);
  const server = Deno.serve({
    transport: "unix",
    path: bound,
    onListen: () => {},
  }, handler);
  Deno.chmodSync(bound, 0o600);
  Deno.renameSync(bound, paths.socket);
  return {
    async close() {
      removeFile(paths.socket);
      await Promise.race([server.shutdown(), sleep(CLOSE_PATIENCE_MS)]);
    },
  };
}
