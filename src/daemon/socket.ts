/** The daemon's Unix socket. Private from the start; closing never unlinks a successor's socket. */

import type { HomePaths } from "../platform/paths.ts";
import { removeFile } from "../platform/atomic_file.ts";
import { mostConnections } from "../platform/accept.ts";
import { sleep } from "../platform/clock.ts";
import { type Handler, UnixServer } from "./unix_server.ts";

interface DaemonSocket {
  /** Creates a removed socket again. Open connections continue. */
  putBack(): void;
  /**
   * Accepts no more requests and gives current ones a moment; open streams end with the process. Pass
   * `removeSocket` only while the lock is held.
   */
  close(removeSocket: boolean): Promise<void>;
}

/** Time for current requests when the server closes. */
const CLOSE_PATIENCE_MS = 300;

/** Number of sockets bound so far, for unique names. */
let bound = 0;

export function serveSocket(
  paths: HomePaths,
  handler: Handler,
  warn: (message: string) => void,
): DaemonSocket {
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
 * Binds to a temporary name, makes the socket private and renames it over any old one. A closing server
 * unlinks the path it was bound to, not the final one.
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
