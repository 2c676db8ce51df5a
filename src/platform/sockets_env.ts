/** What tells an app of the sockets that it inherits (the systemd convention). */

import { nodePreload, nodePreloadEnv } from "./sockets_node.ts";
import type { SharedSockets } from "./sockets.ts";

/**
 * Variables of an app with sockets: `LISTEN_FDS`, `LISTEN_FDNAMES` (the ports, in order) and, for
 * Node apps, those that load the preload. `LISTEN_PID` is set by the wrapper, which knows the pid.
 */
export function socketEnv(
  { addresses, preload }: SharedSockets,
  home: string,
  nodeOptions: string | undefined,
): Record<string, string> {
  const env = {
    LISTEN_FDS: String(addresses.length),
    LISTEN_FDNAMES: addresses.map(({ port }) => port).join(":"),
  };
  if (preload === undefined) return env;
  const path = nodePreload(home, preload === "other_user");
  const texts = addresses.map(({ text }) => text);
  return { ...env, ...nodePreloadEnv(path, texts, nodeOptions) };
}

/** The line of shell that completes it. */
export const LISTEN_PID_LINE = "export LISTEN_PID=$procsup_pid";
