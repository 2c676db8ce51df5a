/** Whether a daemon answers, and what is in the way when none does. */

import { ProcsupError } from "../../model/errors.ts";
import { readFileIfAny } from "../../platform/atomic_file.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { otherVersion, type Peer } from "../../protocol/peer.ts";
import { type Finding, homeFlag, ok, warning, wrong } from "./finding.ts";

/** The daemon of a home. */
export async function checkDaemon(home: string): Promise<Finding[]> {
  const peers: Peer[] = [];
  const client = new DaemonClient(home, (peer) => void peers.push(peer));
  try {
    const { version } = await client.call("ping");
    const other = peers[0] === undefined ? undefined : otherVersion(peers[0]);
    return [
      other === undefined
        ? ok("daemon", `it answers, version ${version}`)
        : warning("daemon", other, "procsup upgrade"),
      ...firstProcess(home),
    ];
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return [silentDaemon(home)];
  }
}

/** Orphans of a container end up at process 1, which must collect them. */
function firstProcess(home: string): Finding[] {
  if (readDaemonRecord(home)?.pid !== 1) return [];
  const says = "the daemon is process 1, and does not collect the orphans of others";
  return [warning("init", says, "start the container with an init, or run: procsup run FILE")];
}

function silentDaemon(home: string): Finding {
  const { socket, lock } = pathsIn(home);
  const start = `procsup daemon --detach${homeFlag(home)}`;
  if (readFileIfAny(lock) !== undefined && !isFree(lock)) {
    const pid = readDaemonRecord(home)?.pid;
    const fix = pid === undefined ? undefined : `kill -KILL ${pid} && ${start}`;
    return wrong("daemon", "it runs and does not answer", fix);
  }
  try {
    Deno.lstatSync(socket);
    return warning("daemon", "a dead one left its socket", start);
  } catch {
    return warning("daemon", "none runs", start);
  }
}
