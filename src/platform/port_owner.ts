/** Who listens on a local port: readiness must not be another process's answer. */

import { isLinux } from "./os.ts";
import { processTable } from "./process_table.ts";

/**
 * Whether a port is held by a process of the group, or of none that can be seen. False only when
 * it is certain that somebody else listens there.
 */
export function portMayBelongTo(port: number, pgid: number): boolean {
  if (!isLinux) return true;
  const inodes = listeningInodes(port);
  if (inodes.size === 0) return true;
  const table = processTable();
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
  return [...mine].some((pid) => holdsSocket(pid, inodes));
}

function listeningInodes(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = new Set<string>();
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readLines(file)) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === "0A" && fields[1]!.endsWith(suffix)) inodes.add(`socket:[${fields[9]}]`);
    }
  }
  return inodes;
}

function readLines(path: string): string[] {
  try {
    return Deno.readTextFileSync(path).split("\n").slice(1);
  } catch {
    return [];
  }
}

function holdsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      if (inodes.has(linkOf(`${folder}/${name}`))) return true;
    }
  } catch {
    // Gone, or another user's.
  }
  return false;
}

function linkOf(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}
