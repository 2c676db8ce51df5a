/** The daemon's Unix socket, bound so that it is never open to others and never unlinks its successor's. */

import type { HomePaths } from "../platform/paths.ts";
import { removeFile } from "../platform/atomic_file.ts";
import { mostConnections } from "../platform/accept.ts";
import { sleep } from "../platform/clock.ts";
import { type Handler, UnixServer } from "./unix_server.ts";

/** A server on the home's socket. */
export interface SocketServer {
  /** Puts the socket back in its place. Connections that stand go on. */
  putBack(): void;
  /**
   * Takes no more requests and gives those under way a moment. A stream that a client keeps open ends
   * with the process. `removeSocket`: only while the lock is held.
   */
  close(removeSocket: boolean): Promise<void>;
}

/** How long requests under way may take when the server closes. */
const CLOSE_PATIENCE_MS = 300;

/** Sockets bound so far, for names of their own. */
let bound = 0;

/** Serves on the home's socket. */
export function serveSocket(
  paths: HomePaths,
  handler: Handler,
  warn: (message: string) => void,
): SocketServer {
  let server = bind(paths, handler, warn);
  return {
    putBack() {
      const before = server;
      server = bind(paths, handler, warn);
      void before.close();
    },
    async close(removeSocket) {
      if (removeSocket) removeFile(paths.socket);
      await Promise.race([server.close(), sleep(CLOSE_PATIENCE_MS)]);
    },
  };
}

/**
 * Binds beside the place of the socket, makes it private and renames it over whatever a killed daemon
 * left there: a closing server unlinks the path it was bound to, not this one.
 */
function bind(paths: HomePaths, handler: Handler, warn: (message: string) => void): UnixServer {
  const path = `${paths.home}/sock.${Deno.pid}.${bound++}`;
  removeFile(path);
  const listener = Deno.listen({ transport: "unix", path });
  const server = new UnixServer(listener, handler, { most: mostConnections(), warn });
  Deno.chmodSync(path, 0o600);
  Deno.renameSync(path, paths.socket);
  return server;
}
