/** What tells an app of the sockets that it inherits (the systemd convention). */

import type { SharedSockets } from "./sockets.ts";

/**
 * Variables of an app with sockets: `LISTEN_FDS` and `LISTEN_FDNAMES` (the ports, in order).
 * `LISTEN_PID` is set by the wrapper, which knows the pid.
 */
export function socketEnv({ addresses }: SharedSockets): Record<string, string> {
  return {
    LISTEN_FDS: String(addresses.length),
    LISTEN_FDNAMES: addresses.map(({ port }) => port).join(":"),
  };
}

/** The line of shell that completes it. */
export const LISTEN_PID_LINE = "export LISTEN_PID=$procsup_pid";
