/** Finds who listens on a local port: readiness must not be another process's answer. */

import { listeningSockets, socketsOf } from "./listening_ports.ts";
import { isLocal, type ListenAddress } from "../model/listen_address.ts";
import { isLinux } from "./os.ts";
import { processTableIfReadable } from "./process_table.ts";

/**
 * True if a process of the group may hold an address. False only if another process of this machine
 * certainly listens there.
 */
export function mayBelongTo({ hostname, port }: ListenAddress, pgid: number): boolean {
  if (!isLinux || !isHere(hostname)) return true;
  const inodes = new Set(
    [...listeningSockets()].flatMap(([inode, held]) => held.port === port ? [inode] : []),
  );
  if (inodes.size === 0) return true;
  const table = processTableIfReadable();
  if (table.length === 0) return true;
  const mine = new Set([pgid]);
  // Descendants may lead groups of their own.
  for (let grown = true; grown;) {
    grown = false;
    for (const row of table) {
      if (mine.has(row.pid) || !(row.pgid === pgid || mine.has(row.ppid))) continue;
      mine.add(row.pid);
      grown = true;
    }
  }
  return [...mine].some((pid) => socketsOf(pid).some((inode) => inodes.has(inode)));
}

/** Whether an address is one of this machine. A name other than localhost may be any machine's. */
function isHere(hostname: string): boolean {
  return isLocal(hostname) ||
    Deno.networkInterfaces().some(({ address }) => address === hostname);
}
