/** Checks that a daemon answers, and finds the cause if not. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { lstatIfAny } from "../../platform/stat.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { otherVersion, type Peer } from "../../protocol/peer.ts";
import { type Finding, homeFlag, ok, warning, wrong } from "./finding.ts";

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
      ...checkToken(home),
      ...firstProcess(home),
    ];
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return [silentDaemon(home)];
  }
}

/** Checks that commands can read the daemon's token. */
function checkToken(home: string): Finding[] {
  const { token } = pathsIn(home);
  try {
    if (/^[0-9a-f]{64}$/.test(Deno.readTextFileSync(token).trim())) return [];
    return [wrong("token", `${token} holds no token: the daemon restores it within a second`)];
  } catch (error) {
    return error instanceof Deno.errors.NotFound
      ? [wrong("token", `${token} is missing: the daemon restores it within a second`)]
      : [wrong("token", `${token} cannot be read: ${messageOf(error).split(":")[0]}`)];
  }
}

/** In a container, process 1 must reap orphans. */
function firstProcess(home: string): Finding[] {
  if (readDaemonRecord(home)?.pid !== 1) return [];
  const says = "the daemon is process 1, and does not reap orphans";
  return [warning("init", says, "start the container with an init, or run: procsup run FILE")];
}

function silentDaemon(home: string): Finding {
  const { socket, lock } = pathsIn(home);
  const start = `procsup daemon --detach${homeFlag(home)}`;
  const hasSocket = lstatIfAny(socket) !== undefined;
  if (!isFree(lock)) {
    if (!hasSocket) {
      return wrong("daemon", "it runs, but its socket is missing: restored within a second");
    }
    const pid = readDaemonRecord(home)?.pid;
    const fix = pid === undefined ? undefined : `kill -KILL ${pid} && ${start}`;
    return wrong("daemon", "it runs and does not answer", fix);
  }
  return warning("daemon", hasSocket ? "a dead daemon left its socket" : "none runs", start);
}
